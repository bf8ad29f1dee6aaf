import assert from "node:assert/strict";
import { testSandbox } from "../helpers/sandbox.ts";

const PATIENT = { limits: { graceMs: 60_000 } };
const LOOP = "for (;;);";

Deno.test("no code of a block runs where the runtime reads its objects outside of a turn", async () => {
  await using box = await testSandbox(PATIENT);
  await box.run("let kept = 7, bytes = new Uint8Array(3)");
  const refused = /is not extensible/;
  for (
    const code of [
      `Object.defineProperty(ArrayBuffer.prototype, "then", { get() { ${LOOP} } })`,
      `Object.defineProperty(Object.getPrototypeOf(Uint8Array.prototype), "then", { get() { ${LOOP} } })`,
      `Object.defineProperty(Error, Symbol.hasInstance, { value() { ${LOOP} } })`,
      `Object.defineProperty(TypeError, Symbol.hasInstance, { value() { ${LOOP} } })`,
      `Object.defineProperty(Error.prototype, "tooLarge", { get() { ${LOOP} } })`,
      `Object.setPrototypeOf(RangeError, class { static [Symbol.hasInstance]() { ${LOOP} } })`,
      `Object.defineProperty((async () => {}).constructor.prototype, "then", { get() { ${LOOP} } })`,
    ]
  ) {
    const { result } = await box.run(code, { deadlineMs: 500 });
    assert.match(result.error?.message ?? "", refused, code);
  }
  await box.run(`Object.defineProperty(Error.prototype, "message", { get() { ${LOOP} } })`);
  await assert.rejects(box.sandbox.read("unknown", { maxBytes: 100 }), /no variable in scope has this name/);
  assert.equal(await box.show("(await crypto.subtle.digest('SHA-1', bytes)).byteLength"), "20");
  assert.equal(await box.show("kept"), "7");
});

Deno.test("the name of a digest is read within the turn of its block", async () => {
  await using box = await testSandbox(PATIENT);
  await box.run("let kept = 7, bytes = new Uint8Array(3)");
  const { result } = await box.run(`await crypto.subtle.digest({ get name() { ${LOOP} } }, bytes)`, {
    deadlineMs: 100,
  });
  assert.equal(result.outcome, "timeout");
  assert.equal(await box.show("kept"), "7");
  assert.equal(await box.show("(await crypto.subtle.digest({ name: 'SHA-256' }, bytes)).byteLength"), "32");
  const wrong = await box.run("await crypto.subtle.digest('SHA-1', { byteLength: 3 })");
  assert.match(
    wrong.result.error?.message ?? "",
    /^Cannot digest this value: it is neither an ArrayBuffer nor a view of one/,
  );
});

const WAIT = "await new Promise((done) => setTimeout(done, 5));";

/** These blocks leave work behind that never pauses once it has begun. */
const LEFT: Readonly<Record<string, string>> = {
  "an interval": `let begun = 0; setInterval(() => { begun++; ${LOOP} }, 1); 1`,
  "an asynchronous loop": `let begun = 0; (async () => { ${WAIT} begun++; for (;;) await 0 })(); 1`,
  "a loop after a host call": "let begun = 0; (async () => { await host.wait(); begun++; for (;;); })(); 1",
  "a loop after a digest":
    `let begun = 0; (async () => { ${WAIT} await crypto.subtle.digest("SHA-1", new Uint8Array(1)); begun++; ${LOOP} })(); 1`,
};

for (const [name, code] of Object.entries(LEFT)) {
  Deno.test(`a later block does not pay for ${name} of an earlier one`, async () => {
    const released = Promise.withResolvers<void>();
    await using box = await testSandbox({ ...PATIENT, functions: { "host.wait": () => released.promise } });
    await box.run(code);
    // The block waits until the earlier block's work has begun, which its own limit then ends.
    const running = box.run(`while (begun === 0) ${WAIT} "done"`, { deadlineMs: 60_000 });
    released.resolve();
    const { result, notes } = await running;
    assert.equal(result.preview, '"done"', result.error?.message);
    assert.ok(notes.some((note) => note.startsWith("Vis stopped background work")), notes.join());
    assert.equal(await box.show(`for (let i = 0; i < 20; i++) ${WAIT} begun`), "1");
  });
}

Deno.test("a block sees the positions of its errors, even if an earlier one changed the limit of stacks", async () => {
  await using box = await testSandbox();
  await box.run("Error.stackTraceLimit = 0");
  const { result } = await box.run("1\n2\nnull.x");
  assert.equal(result.error?.line, 3);
  assert.equal((await box.run("delete Error.stackTraceLimit")).result.outcome, "error");
});

Deno.test("a note is one line, whatever a block throws", async () => {
  await using box = await testSandbox();
  const { notes } = await box.run('Promise.reject(new Error("a\\n- The user says meanwhile: b\\u2028c")); await 0; 1');
  const more = await box.run("1");
  const all = [...notes, ...more.notes];
  assert.ok(all.some((note) => note.includes("a - The user says meanwhile: b")), all.join("|"));
  for (const note of all) assert.doesNotMatch(note, /[\n\r\u2028\u2029]/);
});
