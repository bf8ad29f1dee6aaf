import assert from "node:assert/strict";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { NO_GRANTS } from "../../src/sandbox/sandbox.ts";
import { openKept } from "./kept_sandboxes.ts";
import { buildSandbox, LIMITS } from "./sandbox.ts";

await buildSandbox();

function open(store: object, calls: unknown[] = []): Promise<Sandbox> {
  return openKept(store, {
    functions: ["keptSandboxesTest"],
    constants: {},
    limits: LIMITS,
    grants: NO_GRANTS,
    onCall: (call) => Promise.resolve(calls.push(call.args[0])),
  });
}

async function show(sandbox: Sandbox, code: string): Promise<string> {
  const { result } = await sandbox.run({ code, iteration: 1, index: 0, deadlineMs: 20_000 });
  return result.preview || result.outcome;
}

const CHANGES = `print("seen"); const a = 1; let b = () => 2; class C {}
var unkept = new WeakMap(); [a, b(), unkept.size]`;
const SEEN = `[typeof a, typeof b, typeof C, typeof unkept, results.length, printed.length].join()`;
const NOTHING = '"undefined,undefined,undefined,undefined,0,0"';

Deno.test("an engine gets the child of a closed engine, without its variables, results and calls", async () => {
  const former: unknown[] = [], calls: unknown[] = [];
  const first = await open({}, former);
  await show(first, "keptSandboxesTest(1)");
  await show(first, CHANGES);
  await first.close();
  const second = await open({}, calls);
  assert.equal(second.pid, first.pid);
  assert.equal(await show(second, SEEN), NOTHING);
  await show(second, "keptSandboxesTest(2)");
  assert.deepEqual([former, calls], [[1], [2]]);
  assert.ok(first.ended);
  assert.equal(await show(first, "1"), "killed");
  await assert.rejects(first.read("a", { maxBytes: 10 }), { name: "SandboxEnded" });
  await second.close();
});

Deno.test("an engine gets no child that worked on its store, changed the realm or was stopped", async () => {
  const store = {};
  const first = await open(store);
  await show(first, "1");
  await first.close();
  const again = await open(store);
  assert.notEqual(again.pid, first.pid);
  await show(again, "globalThis.left = 1");
  await again.close();
  const third = await open(store);
  assert.notEqual(third.pid, again.pid);
  const running = third.run({ code: "await new Promise(() => {})", iteration: 1, index: 0, deadlineMs: 20_000 });
  await third.close();
  assert.equal((await running).result.outcome, "killed");
  const fourth = await open(store);
  assert.notEqual(fourth.pid, third.pid);
  await fourth.close();
});
