import assert from "node:assert/strict";
import { QueryProgress } from "../../src/domain/query/query_progress.ts";
import type { QueryEvent } from "../../src/domain/query/query_schemas.ts";
import type { WireProtocol } from "../../src/providers/wire/wire.ts";
import { type Engine, startEngine } from "../helpers/engine.ts";
import { HurriedClock } from "../helpers/hurried_clock.ts";
import { final, replyJson } from "../helpers/scripted_provider.ts";
import type { MockReply, MockRequest } from "../helpers/wires/wire_mock.ts";
import { runs } from "../helpers/long_part.ts";
import { PROTOCOLS, provide, withMock } from "../helpers/wires/wire_rig.ts";

const MINUTE = 60_000;
const STEPS = 30;

/** The iterations at which everything fails for a minute, with the failure. */
const OUTAGES: ReadonlyMap<number, MockReply> = new Map([
  [8, { fault: "no_answer" }],
  [14, { status: 503 }],
  [21, { status: 429 }],
]);

function stepOf({ context }: Pick<MockRequest, "context">): number {
  return Number(/^\[iter (\d+)\//.exec(context)?.[1]);
}

async function withEngine(
  protocol: WireProtocol,
  handler: (asked: MockRequest, clock: HurriedClock) => string | MockReply,
  body: (engine: Engine, clock: HurriedClock) => Promise<void>,
): Promise<void> {
  const clock = new HurriedClock();
  await withMock(protocol, { handler: (asked) => handler(asked, clock) }, async ({ baseUrl }) => {
    const provider = await provide(protocol, { baseUrl });
    await using engine = await startEngine([], {
      provider,
      router: clock.options,
      settings: { budget: STEPS + 1 },
    });
    await body(engine, clock);
  });
}

function retries(events: readonly QueryEvent[]): readonly Extract<QueryEvent, { type: "retrying" }>[] {
  return events.filter((event) => event.type === "retrying");
}

for (const protocol of PROTOCOLS.slice(0, runs(1, PROTOCOLS.length))) {
  Deno.test(`a query of 30 iterations survives resets and outages of a minute: ${protocol}`, async () => {
    const until = new Map<number, number>();
    let served = 0;
    let cut = 0;
    const handler = (asked: MockRequest, clock: HurriedClock): MockReply => {
      const step = stepOf(asked);
      const outage = OUTAGES.get(step);
      if (outage) {
        const end = until.get(step) ?? clock.now() + MINUTE;
        until.set(step, end);
        if (clock.now() < end) return outage;
      }
      const text = step > STEPS
        ? final(`{{v${STEPS}}} after all`)
        : replyJson(`const v${step} = ${step === 1 ? "0" : `v${step - 1}`} + 1`, { thinking: "One more. ".repeat(9) });
      if (++served % 3 !== 0) return { text };
      if (step <= STEPS) cut++;
      return { text, fault: "cut" };
    };
    await withEngine(protocol, handler, async (engine, clock) => {
      const begun = clock.now();
      const result = await engine.ask("count");
      assert.deepEqual([result.reason, result.answer], ["answered", "30 after all"]);
      assert.ok(clock.now() - begun >= 3 * MINUTE && clock.now() - begun < 9 * MINUTE, `${clock.now() - begun}`);
      assert.deepEqual([...until.keys()], [...OUTAGES.keys()]);
      const stored = await engine.store.iterations(result.queryId);
      const broken = stored.filter(({ status }) => status === "error");
      assert.deepEqual([broken.length, cut > 9], [cut, true]);
      for (const { error, response, thinking, traces } of broken) {
        assert.match(error ?? "", /Cannot read the complete reply of .*: the connection ended too early; try again/);
        assert.ok(response.startsWith('{"thinking"') && thinking.startsWith("One more."), response);
        assert.equal(traces.at(-1)?.ok, false);
      }
      const said = retries(engine.events);
      assert.ok(said.length >= 9 && said.every(({ waitMs, attempt }) => waitMs > 0 && attempt > 1));
      const steps = new Set(said.map(({ iteration }) => stepShown(engine, iteration)));
      assert.deepEqual([...steps].filter((step) => step <= STEPS), [...OUTAGES.keys()]);
    });
  });
}

for (const protocol of PROTOCOLS) {
  for (const fault of ["cut", "ends_early", "garbage_chunk", "error_chunk", "silent_error"] as const) {
    Deno.test(`a reply that breaks off ends no query: ${fault}, ${protocol}`, async () => {
      const kind = fault === "silent_error" ? "cut" : fault;
      const shown = replyJson("const a = 1", { thinking: "Half of it is counted, I think. ".repeat(4) });
      // The draft of an answer is withdrawn, so the call can be made again.
      const hidden = final("Seven and ".repeat(30));
      const text = fault === "silent_error" ? hidden : shown;
      let calls = 0;
      await withEngine(protocol, () => ++calls === 1 ? { text, fault: kind } : final("At last"), async (engine) => {
        const result = await engine.ask("count");
        assert.deepEqual([result.reason, result.answer, calls], ["answered", "At last", 2]);
        const stored = await engine.store.iterations(result.queryId);
        const statuses = stored.map(({ status }) => status);
        if (fault === "silent_error") {
          assert.deepEqual([statuses, retries(engine.events).length], [["done"], 1]);
          assert.deepEqual(stored[0]?.traces.map(({ ok }) => ok), [false, true]);
          const progress = new QueryProgress();
          const drafts = engine.events.map((event) => (progress.take(event), progress.draft));
          assert.ok(drafts.some((draft) => draft.startsWith("Seven and")));
          assert.equal(drafts.findLast((draft) => draft !== ""), "At last");
        } else {
          assert.deepEqual([statuses, retries(engine.events).length], [["error", "done"], 0]);
          assert.ok(text.startsWith(stored[0]?.response ?? "-") && stored[0]?.response !== "");
        }
      });
    });
  }

  Deno.test(`a reply that the length limit cut is named to the model and the user: ${protocol}`, async () => {
    const cut = '{"thinking":"x","code":[{"expr":"const k = 5"},{"expr":"const half = \\"ab';
    const replies: MockReply[] = [
      { text: cut, finish: "length" },
      { text: '{"thinking":"all', finish: "length" },
      { text: final("{{k}} it is") },
    ];
    const contexts: string[] = [];
    await withEngine(protocol, ({ context }) => {
      contexts.push(context);
      return replies.shift() ?? "";
    }, async (engine) => {
      const result = await engine.ask("count");
      assert.equal(result.answer, "5 it is");
      assert.match(contexts[1] ?? "", /<notes>[\s\S]*The length limit of the model cut your last reply/);
      assert.match(contexts[2] ?? "", /<notes>[\s\S]*The length limit of the model script cut the reply/);
      const ends = engine.events.flatMap((event) => event.type === "iteration_finished" ? [event.reason] : []);
      assert.equal(ends[0], "The length limit of the model cut the reply");
      assert.match(ends[1] ?? "", /^The length limit of the model script cut the reply\. /);
      assert.equal(ends[2], null);
    });
  });
}

/** Returns the step of a stored iteration. A broken iteration is repeated as the same step. */
function stepShown(engine: Engine, iteration: number | null): number {
  const failed = engine.events.filter((event) =>
    event.type === "iteration_finished" && event.outcome === "failed" && (event.iteration ?? 0) < (iteration ?? 0)
  );
  return (iteration ?? 0) - failed.length;
}
