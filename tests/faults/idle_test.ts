import assert from "node:assert/strict";
import { openSandbox } from "../../src/sandbox/host/open_sandbox.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { startEngine } from "../helpers/engine.ts";
import { buildSandbox } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";
import { replyJson } from "../helpers/scripted_provider.ts";

Deno.test("a sandbox that was idle for sandbox.idleMs is stopped, and is back with its variables and named losses", async () => {
  await buildSandbox();
  const children: Sandbox[] = [];
  const waiting: (() => void)[] = [];
  await using engine = await startEngine([
    replyJson("const kept = [1]; const hold = ((n) => () => n)(7)", { final: "{{kept}} is kept" }),
    replyJson("kept.push(2); const now = [kept.length, typeof hold].join()", { final: "{{now}}" }),
  ], {
    children: {
      live: 4,
      idleMs: 600_000,
      after: (ms, f) => {
        assert.equal(ms, 600_000);
        waiting.push(f);
        return () => waiting.splice(waiting.indexOf(f), 1);
      },
    },
    openSandbox: async (options) => {
      const child = await openSandbox(options);
      children.push(child);
      return child;
    },
  });
  await engine.ask("one");
  assert.equal(waiting.length, 1);
  for (const idle of waiting.splice(0)) idle();
  await until(() => children[0]?.ended ?? false);
  assert.equal((await engine.ask("two")).answer, "2,undefined");
  assert.equal(children.length, 2);
  assert.match(engine.context(1), /hold.*lost|lost[\s\S]*hold/, "the index names what is lost");
});
