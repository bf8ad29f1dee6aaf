import assert from "node:assert/strict";
import { abortable, aborted } from "../../../src/domain/kit/abortable.ts";

Deno.test("abortable() gives what comes first: the work, or the signal's reason", async () => {
  const controller = new AbortController();
  const { promise, resolve } = Promise.withResolvers<string>();
  const first = abortable(promise, controller.signal);
  const second = abortable(promise, undefined);
  controller.abort(new RangeError("Too late"));
  await assert.rejects(first, RangeError);
  await assert.rejects(abortable(promise, controller.signal), RangeError);
  resolve("done");
  assert.equal(await second, "done");
  assert.equal(await abortable(promise, new AbortController().signal), "done");
  await assert.rejects(abortable(Promise.reject(new TypeError("No")), new AbortController().signal), TypeError);
});

Deno.test("aborted() resolves with the signal, also where it is aborted already", async () => {
  const controller = new AbortController();
  let done = false;
  const waiting = aborted(controller.signal).then(() => done = true);
  await Promise.resolve();
  assert.equal(done, false);
  controller.abort();
  await waiting;
  await aborted(controller.signal);
});
