import assert from "node:assert/strict";
import { replyJson } from "../helpers/scripted_provider.ts";
import { ANSWERS, callError, EMPTY, ended, play, PROSE, type StateRow, WORKS } from "./_play.ts";

const PRICE = { input: 1_000_000, output: 1_000_000, cached: 0 };
const NO_LIMITS = { costUsd: null, tokens: null, wallMs: null };

const FIVE = Array.from({ length: 5 }, (_, at) => replyJson(`throw new Error("fault ${at}")`));

export const BETWEEN: readonly StateRow[] = [
  {
    state: "5 errors in a row, fewer than 3 restarts",
    event: "–",
    next: "restart: iterating, errors 0, no journal, the first three errors in notes; variables and attempts stay",
    drive: () =>
      play([WORKS, ...FIVE, replyJson([], { final: "{{a}}" })], ({ engine, result, header, reasoning }) => {
        const context = engine.context(6);
        assert.match(context, /another approach[\s\S]*fault 0[\s\S]*fault 1[\s\S]*fault 2/);
        assert.doesNotMatch(context, /<journal>|- Error: fault 3/);
        assert.match(context, /<earlier>[\s\S]*const a = 1[\s\S]*<attempts>[\s\S]*<var_index>[\s\S]*const a = 1/);
        assert.deepEqual([header(6), reasoning(6)], ["3/4", "balanced"]);
        ended(result, "answered", /^1$/);
      }),
  },
  {
    state: "5 errors in a row, 3 restarts",
    event: "–",
    next: "last call, for `error_budget`",
    drive: () =>
      play([...FIVE, ...FIVE, ...FIVE, ...FIVE, ANSWERS], ({ engine, result }) => {
        ended(result, "error_budget", /^It is done/);
        assert.equal(engine.provider.requests.length, 21);
        assert.match(engine.context(20), /5 iterations failed[\s\S]*last call/);
      }, { settings: { budget: 20 } }),
  },
  {
    state: "budget used up",
    event: "–",
    next: "last call, for `max_iterations`",
    drive: () =>
      play([WORKS, WORKS, ANSWERS], ({ engine, result }) => {
        ended(result, "max_iterations", /^It is done/);
        assert.match(engine.context(2), /budget is used up[\s\S]*last call/);
      }, { settings: { budget: 2 } }),
  },
  {
    state: "last call",
    event: "final accepted",
    next: "ended: its reason, with that answer, confidence low",
    drive: () =>
      play([WORKS, replyJson("const never = 1", { final: "{{a}} at least" })], async ({ engine, result }) => {
        ended(result, "max_iterations", /^1 at least$/);
        assert.deepEqual([result.status, result.confidence], ["error", "low"]);
        const names = (await engine.store.variables(engine.branch.branchId)).map(({ name }) => name);
        assert.ok(names.includes("a") && !names.includes("never"), "no block of a last call runs");
      }, { settings: { budget: 1 } }),
  },
  {
    state: "last call",
    event: "code and no final",
    next: "ended: its reason; the iteration says that the code did not run",
    drive: () =>
      play([WORKS, WORKS], async ({ engine, result }) => {
        ended(result, "max_iterations", /budget of 1 step\./);
        const [, told] = engine.events.filter((event) => event.type === "iteration_finished");
        const [, stored] = await engine.store.iterations(result.queryId);
        const why = "The reply to the last call has code, which does not run, and no answer";
        assert.deepEqual([told?.outcome, told?.reason, stored?.error], ["empty", why, why]);
      }, { settings: { budget: 1 } }),
  },
  {
    state: "last call, for `max_iterations`",
    event: "the answer again does not fit the caller's schema",
    next: "ended: `answer_schema`, with the errors",
    drive: () => {
      const text = replyJson([], { final: "three files" });
      return play([text, text], ({ result }) => ended(result, "answer_schema", /schema/), {
        settings: { budget: 1 },
        responseSchema: { type: "object" },
      });
    },
  },
  {
    state: "last call",
    event: "anything else",
    next: "ended: its reason, with a composed answer: limit, last thinking, advice",
    drive: async () => {
      const thinks = replyJson("const a = 1", { thinking: "Half of it is counted." });
      const refused = replyJson([], { final: "{{a}} {{missing}}" });
      for (const last of [PROSE, EMPTY, refused, callError(400), callError(401)]) {
        await play([thinks, last], ({ result }) => {
          ended(result, "max_iterations", /budget of 1 step\.[\s\S]*Half of it is counted[\s\S]*10 more steps/);
        }, { settings: { budget: 1 } });
      }
    },
  },
  {
    state: "before a call",
    event: "the cost limit is reached",
    next: "ended: `limit_cost`",
    drive: () =>
      play([WORKS], ({ result }) => ended(result, "limit_cost", /budget\.costUsd/), {
        scripted: { capabilities: { price: PRICE } },
        settings: { limits: { ...NO_LIMITS, costUsd: 0.01 } },
      }),
  },
  {
    state: "before a call",
    event: "the token limit is reached",
    next: "ended: `limit_tokens`",
    drive: () =>
      play([WORKS], ({ result }) => ended(result, "limit_tokens", /budget\.tokens/), {
        settings: { limits: { ...NO_LIMITS, tokens: 10 } },
      }),
  },
  {
    state: "before a call",
    event: "the time limit is reached",
    next: "ended: `limit_time`",
    drive: () => {
      const clock = { now: 1_000 };
      const late = (): { text: string } => {
        clock.now += 60_000;
        return { text: WORKS };
      };
      return play([late], ({ result }) => ended(result, "limit_time", /budget\.wallMs/), {
        now: () => clock.now,
        settings: { limits: { ...NO_LIMITS, wallMs: 30_000 } },
      });
    },
  },
  {
    state: "iterating",
    event: "final accepted in the reply that crosses a limit",
    next: "ended: `answered`",
    drive: async () => {
      for (const limits of [{ ...NO_LIMITS, tokens: 10 }, { ...NO_LIMITS, costUsd: 0.01 }]) {
        await play([ANSWERS], ({ result }) => ended(result, "answered"), {
          scripted: { capabilities: { price: PRICE } },
          settings: { limits },
        });
      }
    },
  },
];
