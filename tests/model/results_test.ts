import assert from "node:assert/strict";
import { errorForModel } from "../../src/domain/query/host_call.ts";
import type { QueryEvent } from "../../src/domain/query/query_schemas.ts";
import { openSandbox } from "../../src/sandbox/host/open_sandbox.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { type Engine, startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";
import { withFolder } from "../helpers/with_folder.ts";

function previews(events: readonly QueryEvent[]): string[] {
  return events.flatMap((event) =>
    event.type === "block_finished"
      ? [event.result.error ? errorForModel(event.result.error) : event.result.preview]
      : []
  );
}

const LAST = replyJson([], { final: "It is finished." });
const SEEN = "[results, printed]";

async function play(replies: readonly string[], requests = 1): Promise<{ engine: Engine; shown: string[] }> {
  const engine = await startEngine(replies);
  for (let i = 0; i < requests; i++) await engine.ask("x");
  return { engine, shown: previews(engine.events) };
}

Deno.test("the next reply reads values and output of all rows it was shown, in each of its blocks", async () => {
  const { engine, shown } = await play([
    replyJson(["print('a'); [1, 2]", "({ n: 1 })"]),
    replyJson([SEEN, "results[1].n + results.length", "results[0] === results[0]"]),
    LAST,
  ]);
  await using _engine = engine;
  assert.deepEqual(shown.slice(2), ['[ [ [ 1, 2 ], { n: 1 } ], [ "a\\n", "" ] ]', "3", "true"]);
});

Deno.test("a reply without code and an unreadable one leave results as they are", async () => {
  const { engine, shown } = await play([
    replyJson(["[7]"]),
    JSON.stringify({ thinking: "I think." }),
    "{",
    replyJson(["results[0]"]),
    LAST,
  ]);
  await using _engine = engine;
  assert.equal(shown[1], "[ 7 ]");
  assert.match(engine.context(3), /^ {2}\[1\] \[7\] → Array\(1\) \[ 7 \]$/m);
});

Deno.test("the next query reads the rows of the last one, though both began with iteration 1", async () => {
  const { engine, shown } = await play([
    replyJson(["'fir' + 'st'"], { final: "All rows are there." }),
    replyJson(["results[0]"], { final: "All rows were read." }),
  ], 2);
  await using _engine = engine;
  assert.equal(shown[1], '"first"');
});

Deno.test("a journal marker that names printed[0] or results[0] is right", async () => {
  const { engine, shown } = await play([
    replyJson(["for (let i = 0; i < 40000; i++) print('line ' + i); 'x'.repeat(90000)"]),
    replyJson(["printed[0].includes('line 39999\\n') + ' ' + results[0].length"]),
    LAST,
  ]);
  await using _engine = engine;
  assert.ok(engine.context(1).includes('print(printed[0].split("\\n")'));
  assert.equal(shown[1], '"true 90000"');
});

Deno.test("after a child was killed in a block, the new one has the shown values, and names the lost ones", async () => {
  const children: Sandbox[] = [];
  await using engine = await startEngine([
    replyJson(["print('p'); ({ rows: [1] })", "new (class Point { x = 1 })", "() => 5", "if (1) {}"]),
    replyJson(["'be' + 'fore'", "await vars()", SEEN.replace("results", "results[0]"), "results[1]", "results[2]"]),
    replyJson(["results[0]", "results.length"]),
    LAST,
  ], {
    openSandbox: async (options) => {
      const child = await openSandbox({
        ...options,
        onCall: async (call) => {
          const result = await options.onCall(call);
          if (children.length === 1) Deno.kill(children[0]!.pid, "SIGKILL");
          return result;
        },
      });
      children.push(child);
      return child;
    },
  });
  await engine.ask("x");
  const shown = previews(engine.events).slice(4);
  assert.equal(children.length, 2);
  assert.equal(shown[2], '[ { rows: [ 1 ] }, [ "p\\n", "", "", "" ] ]');
  assert.equal(shown[3], "{ x: 1 }", "the data of an instance");
  assert.match(
    shown[4]!,
    /Cannot read results\[2\]: the sandbox restarted, and could not keep the value \(\[Function.*\); compute it again/,
  );
  assert.deepEqual(shown.slice(5), ['"before"', "5"]);
});

Deno.test("another process reads the rows of the last iteration that ran blocks", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/vis.db`;
    {
      await using engine = await startEngine([replyJson(["print('p'); [1]"]), LAST], { path });
      await engine.ask("x");
    }
    await using engine = await startEngine([replyJson([SEEN], { final: "It is read." })], { path });
    await engine.ask("y");
    assert.equal(previews(engine.events)[0], '[ [ [ 1 ] ], [ "p\\n" ] ]');
  });
});
