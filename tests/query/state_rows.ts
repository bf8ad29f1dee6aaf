import assert from "node:assert/strict";
import { ConfigError, ProviderError, StoreError } from "../../src/domain/errors.ts";
import type { QueryReason, QueryResult } from "../../src/domain/query_result.ts";
import { type Engine, type EngineOptions, startEngine } from "../helpers/engine.ts";
import { replyJson, type ScriptedReply } from "../helpers/scripted_provider.ts";

/** One row of the table in docs/architecture.md, and the query that goes through it. */
export interface StateRow {
  readonly state: string;
  readonly event: string;
  readonly next: string;
  /** Drives a query through the row; throws where it goes another way. */
  readonly drive: () => Promise<void>;
}

interface Played {
  readonly engine: Engine;
  readonly result: QueryResult;
  /** `n/m` of the header of a call, 0-based. */
  header(call: number): string;
  /** `balanced` while no error stands, `deep` after one. */
  reasoning(call: number): string | undefined;
}

const WORKS = replyJson("const a = 1");
const FAILS = replyJson('throw new Error("broken")');
const EMPTY = replyJson([]);
const PROSE = "I am sure that it is fine.";
const ANSWERS = replyJson([], { final: "It is done: 1" });
const MISSING = replyJson("const seen = 1", { final: "{{seen}} {{missing}}" });
const PRICE = { input: 1_000_000, output: 1_000_000, cached: 0 };
const NO_LIMITS = { costUsd: null, tokens: null, wallMs: null };

async function play(
  replies: readonly ScriptedReply[],
  check: (played: Played) => void | Promise<void>,
  { signal, ...options }: EngineOptions & { readonly signal?: (engine: Engine) => AbortSignal } = {},
): Promise<void> {
  await using engine = await startEngine(replies, options);
  const result = await engine.ask("count", signal ? { signal: signal(engine) } : {});
  const stored = await engine.store.query(result.queryId);
  assert.deepEqual([stored?.running, stored?.status, stored?.reason], [false, result.status, result.reason]);
  assert.notEqual(result.answer.trim(), "");
  await check({
    engine,
    result,
    header: (call) => /^\[iter (\d+\/\d+)\]/.exec(engine.context(call))?.[1] ?? "",
    reasoning: (call) => engine.provider.requests[call]?.reasoning,
  });
}

function ended(result: QueryResult, reason: QueryReason, answer?: RegExp): void {
  assert.equal(result.reason, reason);
  if (answer) assert.match(result.answer, answer);
}

/** A query that throws: the error reaches the caller, and the stored query is over all the same. */
async function throws(
  options: EngineOptions,
  { error, reason }: { readonly error: RegExp; readonly reason: QueryReason },
): Promise<void> {
  await using engine = await startEngine([WORKS, ANSWERS], options);
  await assert.rejects(engine.ask("count"), error);
  const [stored] = await engine.store.queries(engine.branch.branchId);
  assert.deepEqual([stored?.running, stored?.reason], [false, reason]);
  assert.notEqual(stored?.answer, "");
}

function callError(status: number): ProviderError {
  return new ProviderError(`The server refused the request: ${status}`, { kind: "server", retryable: false, status });
}

/** Aborted as soon as an event of that type was sent. */
function abortedAt(type: string) {
  return (engine: Engine): AbortSignal => {
    const controller = new AbortController();
    const push = engine.events.push.bind(engine.events);
    engine.events.push = (...events) => {
      if (events.some((event) => event.type === type)) controller.abort();
      return push(...events);
    };
    return controller.signal;
  };
}

const ITERATING: readonly StateRow[] = [
  {
    state: "iterating",
    event: "final accepted",
    next: "ended: `answered`",
    drive: () =>
      play([replyJson("const n = 6 * 7", { final: "{{n}}" })], ({ result, engine }) => {
        ended(result, "answered", /^42$/);
        assert.deepEqual([result.status, result.confidence], ["done", "high"]);
        assert.equal(engine.events.at(-1)?.type, "final");
      }),
  },
  {
    state: "iterating",
    event: "`answer(value)` in a block",
    next: "ended: `answered`; the first one wins, a later error does not undo it",
    drive: () =>
      play(
        [replyJson(['await answer("one")', 'await answer("two"); throw new Error("late")'], { final: "three" })],
        ({ result }) => {
          ended(result, "answered", /^one$/);
          assert.equal(result.confidence, "high");
        },
      ),
  },
  {
    state: "iterating",
    event: "final refused",
    next: "iterating; budget +1, the reason in notes",
    drive: () =>
      play([MISSING, ANSWERS], ({ engine, header }) => {
        assert.equal(header(1), "2/4");
        assert.match(engine.context(1), /<notes>[\s\S]*refused[\s\S]*missing[\s\S]*<\/notes>/);
        assert.match(engine.context(1), /<journal>[\s\S]*const seen = 1/);
      }),
  },
  {
    state: "iterating",
    event: "final refused, every block failed",
    next: "iterating; budget as it was, errors +1, the reason in notes",
    drive: () =>
      play([replyJson('throw new Error("broken")', { final: "Fine" }), ANSWERS], ({ engine, header, reasoning }) => {
        assert.deepEqual([header(1), reasoning(1)], ["1/4", "deep"]);
        assert.match(engine.context(1), /<notes>[\s\S]*refused[\s\S]*broken[\s\S]*<\/notes>/);
      }),
  },
  {
    state: "iterating",
    event: "final refused for the same reason twice in a row",
    next: "ended: `answered`, confidence low, with a note",
    drive: async () => {
      const failing = replyJson('throw new Error("broken")', { final: "Fine" });
      for (const reply of [MISSING, failing]) {
        await play([reply, reply], ({ result }) => {
          ended(result, "answered");
          assert.deepEqual([result.status, result.confidence, result.notes.length], ["done", "low", 1]);
        });
      }
    },
  },
  {
    state: "iterating",
    event: "final refused, for another reason than before or not in a row",
    next: "iterating; budget +1, the reason in notes",
    drive: async () => {
      const placeholder = replyJson([], { final: "done" });
      await play([MISSING, placeholder, ANSWERS], ({ engine }) => assert.match(engine.context(2), /placeholder/));
      await play([MISSING, WORKS, MISSING, ANSWERS], ({ result }) => assert.match(result.answer, /^It is done/));
    },
  },
  {
    state: "iterating",
    event: "blocks ran, at least one succeeded",
    next: "iterating; budget +1, errors 0",
    drive: () =>
      play([FAILS, replyJson(["1 + 1", 'throw new Error("x")']), ANSWERS], ({ header, reasoning }) => {
        assert.deepEqual([reasoning(1), header(2), reasoning(2)], ["deep", "2/4", "balanced"]);
      }),
  },
  {
    state: "iterating",
    event: "every block failed",
    next: "iterating; budget as it was, errors +1",
    drive: () =>
      play([FAILS, ANSWERS], ({ engine, header, reasoning }) => {
        assert.deepEqual([header(1), reasoning(1)], ["1/4", "deep"]);
        assert.match(engine.context(1), /<journal>[\s\S]*ERROR[\s\S]*broken/);
      }),
  },
  {
    state: "iterating",
    event: "neither code nor final",
    next: "iterating; budget +1, errors as they were, the journal kept",
    drive: () =>
      play([WORKS, FAILS, EMPTY, ANSWERS], async ({ engine, result, header, reasoning }) => {
        assert.deepEqual([header(3), reasoning(3)], ["3/4", "deep"]);
        assert.match(engine.context(3), /neither code nor final[\s\S]*<journal>[\s\S]*broken/);
        assert.equal((await engine.store.iterations(result.queryId)).length, 4);
      }),
  },
  {
    state: "iterating",
    event: "no usable reply",
    next: "iterating; budget as it was, errors +1, the reason in notes, the journal kept",
    drive: () =>
      play([WORKS, PROSE, ANSWERS], ({ engine, header, reasoning }) => {
        assert.deepEqual([header(2), reasoning(2)], ["2/4", "deep"]);
        assert.match(engine.context(2), /no usable reply[\s\S]*I am sure[\s\S]*<journal>[\s\S]*const a = 1/);
      }),
  },
  {
    state: "iterating",
    event: "the call was refused for what it says",
    next: "iterating; budget as it was, errors +1, the provider's words in notes",
    drive: () =>
      play([callError(400), ANSWERS], async ({ engine, result, header, reasoning }) => {
        assert.deepEqual([header(1), reasoning(1)], ["1/4", "deep"]);
        assert.match(engine.context(1), /<notes>[\s\S]*refused the request: 400/);
        assert.deepEqual((await engine.store.iterations(result.queryId)).map(({ status }) => status), [
          "error",
          "done",
        ]);
      }),
  },
  {
    state: "iterating",
    event: "the same call error three times in a row",
    next: "ended: `provider`",
    drive: () =>
      play([callError(400), callError(400), callError(400)], ({ engine, result }) => {
        ended(result, "provider", /400/);
        assert.equal(engine.provider.requests.length, 3);
      }),
  },
  {
    state: "iterating",
    event: "the key was refused, or no provider is left",
    next: "ended: `provider`",
    drive: () =>
      play([callError(401)], ({ engine, result }) => {
        ended(result, "provider", /401/);
        assert.equal(engine.provider.requests.length, 1);
      }),
  },
  {
    state: "iterating",
    event: "`requestMoreIterations(n)`",
    next: "iterating; a larger budget, up to the ceiling, in the next header",
    drive: () =>
      play([replyJson("await requestMoreIterations(9)"), ANSWERS], ({ engine, header }) => {
        assert.equal(header(1), "2/7");
        assert.match(engine.context(1), /granted: 3, budget: 7/);
      }, { settings: { ceiling: 7 } }),
  },
  {
    state: "iterating",
    event: "the user sends a message",
    next: "iterating; the message in notes, once",
    drive: async () => {
      await using engine = await startEngine([
        () => {
          steered.push(engine.conversations.steer(engine.branch, "In euros, please"));
          return WORKS_PARTS;
        },
        WORKS,
        ANSWERS,
      ]);
      const steered: Promise<boolean>[] = [];
      await engine.ask("count");
      assert.deepEqual(await Promise.all(steered), [true]);
      assert.match(engine.context(1), /<notes>[\s\S]*The user says meanwhile: In euros, please/);
      assert.doesNotMatch(engine.context(2), /In euros/);
      assert.equal(await engine.conversations.steer(engine.branch, "Too late"), false);
    },
  },
];

const WORKS_PARTS = { text: WORKS };
const FIVE = Array.from({ length: 5 }, (_, at) => replyJson(`throw new Error("fault ${at}")`));

const BETWEEN: readonly StateRow[] = [
  {
    state: "5 errors in a row, fewer than 3 restarts",
    event: "–",
    next: "restart: iterating, errors 0, no journal, the first three errors in notes; variables and attempts stay",
    drive: () =>
      play([WORKS, ...FIVE, replyJson([], { final: "{{a}}" })], ({ engine, result, header, reasoning }) => {
        const context = engine.context(6);
        assert.match(context, /another approach[\s\S]*fault 0[\s\S]*fault 1[\s\S]*fault 2/);
        assert.doesNotMatch(context, /<journal>|- Error: fault 3/);
        assert.match(context, /<attempts>[\s\S]*const a = 1[\s\S]*<var_index>[\s\S]*const a = 1/);
        assert.deepEqual([header(6), reasoning(6)], ["2/4", "balanced"]);
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
        assert.match(engine.context(20), /Too many errors[\s\S]*last call/);
      }),
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
    event: "anything else",
    next: "ended: its reason, with a composed answer: limit, last thinking, advice",
    drive: async () => {
      const thinks = replyJson("const a = 1", { thinking: "Half of it is counted." });
      const refused = replyJson([], { final: "{{a}} {{missing}}" });
      for (const last of [PROSE, EMPTY, refused, callError(400), callError(401)]) {
        await play([thinks, last], ({ result }) => {
          ended(result, "max_iterations", /budget of 1 iterations[\s\S]*Half of it is counted[\s\S]*--max-iterations/);
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
        return WORKS_PARTS;
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

const ENDS: readonly StateRow[] = [
  {
    state: "before a call",
    event: "cancelled",
    next: "ended: `cancelled`; no call is made",
    drive: () =>
      play([ANSWERS], ({ engine, result }) => {
        ended(result, "cancelled");
        assert.deepEqual([result.status, engine.provider.requests.length], ["interrupted", 0]);
        assert.equal(engine.events.at(-1)?.type, "cancelled");
      }, { signal: () => AbortSignal.abort() }),
  },
  {
    state: "waiting for the model",
    event: "cancelled",
    next: "ended: `cancelled`; the wait ends at once, what was done stays",
    drive: () => {
      const controller = new AbortController();
      const slow = (): { text: string; delayMs: number } => {
        queueMicrotask(() => controller.abort());
        return { text: "never", delayMs: 60_000 };
      };
      return play([WORKS, slow], async ({ engine, result }) => {
        ended(result, "cancelled", /kept/);
        const names = (await engine.store.variables(engine.branch.branchId)).map(({ name }) => name);
        assert.ok(names.includes("a"));
        assert.equal((await engine.store.iterations(result.queryId)).length, 1, "no phantom iteration");
      }, { signal: () => controller.signal });
    },
  },
  {
    state: "running a block",
    event: "cancelled",
    next: "ended: `cancelled`; the block ends at once, the iteration is stored as interrupted",
    drive: () =>
      play(
        [replyJson("const before = 1; await new Promise(() => {})")],
        async ({ engine, result }) => {
          ended(result, "cancelled");
          const stored = await engine.store.iterations(result.queryId);
          assert.deepEqual(stored.map(({ status }) => status), ["interrupted"]);
        },
        { signal: abortedAt("block_started") },
      ),
  },
  {
    state: "last call",
    event: "cancelled",
    next: "ended: `cancelled`",
    drive: () => {
      const controller = new AbortController();
      const slow = (): { text: string; delayMs: number } => {
        queueMicrotask(() => controller.abort());
        return { text: "never", delayMs: 60_000 };
      };
      return play([WORKS, slow], ({ result }) => ended(result, "cancelled"), {
        signal: () => controller.signal,
        settings: { budget: 1 },
      });
    },
  },
  {
    state: "any",
    event: "a required wall does not hold",
    next: "ended: `configuration`; the error reaches the caller",
    drive: () =>
      throws({ openSandbox: () => Promise.reject(new ConfigError("Cannot run blocks: kernel")) }, {
        error: /Cannot run blocks/,
        reason: "configuration",
      }),
  },
  {
    state: "any",
    event: "something unforeseen is thrown, or the database fails",
    next: "ended: `defect`; the error reaches the caller",
    drive: async () => {
      const defects = [new TypeError("no sandbox today"), new StoreError("Cannot write: the disk is full", "full")];
      for (const error of defects) {
        await throws({ openSandbox: () => Promise.reject(error) }, { error: /today|full/, reason: "defect" });
      }
    },
  },
  {
    state: "any",
    event: "the process is lost",
    next: "ended: `process_lost`, when the database is opened next",
    drive: async () => {
      await using engine = await startEngine([]);
      const { branchId } = engine.branch;
      const queryId = await engine.store.beginQuery({
        branchId,
        text: "count",
        provider: "p",
        model: "m",
        promptEnrichment: "",
        runLabel: null,
        owner: { host: "elsewhere", pid: 1, started: "" },
      });
      assert.equal(await engine.store.sweepLost(() => false), 1);
      const stored = await engine.store.query(queryId);
      assert.deepEqual([stored?.running, stored?.status, stored?.reason], [false, "interrupted", "process_lost"]);
      assert.notEqual(stored?.answer, "");
    },
  },
];

/** Every transition of a query, in the order of the page. */
export const STATE_ROWS: readonly StateRow[] = [...ITERATING, ...BETWEEN, ...ENDS];
