import assert from "node:assert/strict";
import { ProviderError } from "../../../src/domain/errors.ts";
import { HurriedClock } from "../../helpers/hurried_clock.ts";
import { replyJson, type ScriptedReply } from "../../helpers/scripted_provider.ts";
import { ANSWERS, EMPTY, ended, play, type Played, PROSE, type StateRow, WORKS } from "../_play.ts";

const OUT = new ProviderError("The server is out of order", { code: "server", retryable: true, status: 503 });
const CUT_OFF = new ProviderError("The connection ended in the middle", { code: "network", retryable: true });
const SHOWN: ScriptedReply = { text: replyJson("1", { thinking: "Half of it." }).slice(0, -20), failAfter: CUT_OFF };
const HIDDEN: ScriptedReply = { text: '{"final": {"answer": "Half', failAfter: CUT_OFF };
const TOOL_CALL = '<tool_call>{"name": "search"}</tool_call>';

function claim(number: number): string {
  return `I ran the tests. (${number})`;
}

function paused(
  replies: readonly ScriptedReply[],
  check: (played: Played, clock: HurriedClock) => void | Promise<void>,
): Promise<void> {
  const clock = new HurriedClock();
  return play(replies, (played) => check(played, clock), { router: clock.options });
}

function retries({ engine }: Played): number {
  return engine.events.filter(({ type }) => type === "retrying").length;
}

export const CALLS: readonly StateRow[] = [
  {
    state: "iterating",
    event: "unusable replies: three in a row with the same fault, or five",
    next: "ended: `unusable_replies`, with a sentence about the model",
    drive: async () => {
      const same: readonly (readonly [readonly string[], RegExp])[] = [
        [[1, 2, 3].map(claim), /^The model script replied 3 times in a row with plain text/],
        [[TOOL_CALL, TOOL_CALL, TOOL_CALL], /with tool calls/],
        [["", "", ""], /with an empty text/],
        [["null", "null", "null"], /with an empty text/],
        [['{"c": 1}', '{"a": 1}', '{"b": 1}'], /with JSON/],
        [[EMPTY, EMPTY, EMPTY], /neither code to run/],
      ];
      for (const [replies, says] of same) {
        await play(replies, ({ engine, result }) => {
          ended(result, "unusable_replies", says);
          assert.deepEqual([result.status, engine.provider.requests.length], ["error", 3]);
        });
      }
      const five = [PROSE, TOOL_CALL, PROSE, "", PROSE];
      await play(five, ({ result }) => ended(result, "unusable_replies", /replied 5 times in a row/));
      const apart = [claim(1), claim(2), WORKS, claim(3), claim(4), ANSWERS];
      await play(apart, ({ result }) => ended(result, "answered"));
    },
  },
  {
    state: "iterating",
    event: "the length limit of the model cut the reply",
    next: "iterating with the complete parts; the limit in notes",
    drive: () =>
      play([{ text: WORKS, finish: "length" }, ANSWERS], ({ engine, header }) => {
        assert.equal(header(1), "2/4");
        assert.match(engine.context(1), /<notes>[\s\S]*The length limit of the model cut your last reply/);
        const finished = engine.events.find((event) => event.type === "iteration_finished");
        assert.match(finished?.type === "iteration_finished" && finished.reason || "", /length limit/);
      }),
  },
  {
    state: "iterating",
    event: "a reply broke off after Vis showed a part",
    next: "iterating; used unchanged, errors +1, the part stored, the reason in notes",
    drive: () =>
      paused([WORKS, SHOWN, ANSWERS], async (played) => {
        const { engine, result, header, reasoning } = played;
        assert.deepEqual([header(2), reasoning(2), retries(played)], ["2/4", "deep", 0]);
        assert.match(engine.context(2), /<notes>[\s\S]*The connection ended in the middle[\s\S]*Half of it\./);
        const [, broken] = await engine.store.iterations(result.queryId);
        assert.deepEqual([broken?.status, broken?.thinking], ["error", "Half of it."]);
        assert.match(broken?.response ?? "", /^\{"thinking":"Half of it\."/);
      }),
  },
  {
    state: "iterating",
    event: "five replies in a row broke off after Vis showed a part",
    next: "ended: `provider`",
    drive: async () => {
      await paused([SHOWN, SHOWN, SHOWN, SHOWN, ANSWERS], ({ result }) => ended(result, "answered"));
      await paused([SHOWN, SHOWN, SHOWN, SHOWN, SHOWN], ({ result }) => ended(result, "provider", /in the middle/));
    },
  },
  {
    state: "waiting for the model",
    event: "a reply broke off before Vis showed a part",
    next: "waiting for the model: the same call again, then the next provider",
    drive: () =>
      paused([HIDDEN, HIDDEN, ANSWERS], async (played) => {
        const { engine, result, header } = played;
        assert.deepEqual([header(2), retries(played)], ["1/4", 2]);
        assert.equal(engine.context(2), engine.context(0));
        const [only, ...more] = await engine.store.iterations(result.queryId);
        assert.deepEqual([only?.traces.map(({ ok }) => ok), more], [[false, false, true], []]);
      }),
  },
  {
    state: "waiting for the model",
    event: "every provider fails with a temporary error",
    next: "waiting for the model: the same call again after growing pauses, which Vis shows",
    drive: () =>
      paused([WORKS, ...Array.from({ length: 7 }, () => OUT), ANSWERS], (played, clock) => {
        ended(played.result, "answered");
        assert.ok(retries(played) === 7 && clock.now() > 1_060_000, `${retries(played)} ${clock.now()}`);
      }),
  },
  {
    state: "waiting for the model",
    event: "no provider responded within `retry.patienceMs`",
    next: "ended: `provider`",
    drive: () =>
      paused([WORKS, ...Array.from({ length: 40 }, () => OUT)], ({ engine, result }, clock) => {
        ended(result, "provider", /out of order/);
        assert.ok(engine.provider.remaining > 20 && clock.now() <= 1_310_000, `${clock.now()}`);
      }),
  },
];
