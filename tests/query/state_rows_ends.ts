import assert from "node:assert/strict";
import { ConfigError, StoreError, TakenOverError } from "../../src/domain/errors.ts";
import type { QueryReason } from "../../src/domain/query/outcomes.ts";
import { openStore } from "../../src/persistence/open_store.ts";
import { type Engine, type EngineOptions, startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";
import { withDatabase } from "../helpers/with_database.ts";
import { ANSWERS, ended, play, type StateRow, WORKS } from "./_play.ts";

/** The query throws: the error reaches the caller, and the stored query still ends. */
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

function at(type: string, { events }: Engine, then: () => void): void {
  const push = events.push.bind(events);
  events.push = (...sent) => {
    if (sent.some((event) => event.type === type)) then();
    return push(...sent);
  };
}

function abortedAt(type: string) {
  return (engine: Engine): AbortSignal => {
    const controller = new AbortController();
    at(type, engine, () => controller.abort());
    return controller.signal;
  };
}

const HOUR = 3_600_000;

/** The query reaches its time limit, an hour, as soon as an event of that type was sent, and never before. */
async function lateAt(type: string, [reply, check]: Parameters<typeof play>): Promise<void> {
  const { setTimeout } = globalThis;
  const timers: (() => void)[] = [];
  const held = (work: () => void, ms?: number): unknown => ms === HOUR ? timers.push(work) : setTimeout(work, ms);
  globalThis.setTimeout = held as typeof setTimeout;
  try {
    await play(reply, check, {
      now: () => 1_000,
      settings: { limits: { costUsd: null, tokens: null, wallMs: HOUR } },
      signal: (engine) => {
        at(type, engine, () => timers.forEach((work) => work()));
        return new AbortController().signal;
      },
    });
  } finally {
    globalThis.setTimeout = setTimeout;
  }
}

export const ENDS: readonly StateRow[] = [
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
    next: "ended: `cancelled`; the wait ends immediately, finished work stays",
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
    next: "ended: `cancelled`; the block ends immediately, the iteration is stored as interrupted",
    drive: () =>
      play(
        [replyJson("const before = 1; await new Promise(() => {})", { thinking: "wait without end" })],
        async ({ engine, result }) => {
          ended(
            result,
            "cancelled",
            /^Cancelled in step 1; completed work is kept\.$/,
          );
          assert.equal(result.iterations, 1);
          const stored = await engine.store.iterations(result.queryId);
          assert.deepEqual(stored.map(({ status }) => status), ["interrupted"]);
        },
        { signal: abortedAt("block_started") },
      ),
  },
  {
    state: "waiting for the model",
    event: "the time limit is reached",
    next: "ended: `limit_time`; the wait ends immediately, finished work stays",
    drive: () =>
      play([WORKS, { text: "never", delayMs: 60_000 }], ({ engine, result }) => {
        ended(result, "limit_time", /budget\.wallMs/);
        assert.deepEqual([result.status, engine.events.at(-1)?.type], ["error", "failed"]);
      }, { settings: { limits: { costUsd: null, tokens: null, wallMs: 500 } } }),
  },
  {
    state: "running a block",
    event: "the time limit is reached",
    next: "ended: `limit_time`; the block ends immediately, the iteration is stored as interrupted",
    drive: () =>
      lateAt("block_started", [[replyJson("await new Promise(() => {})")], async ({ engine, result }) => {
        ended(result, "limit_time", /in step 1\./);
        assert.equal(result.iterations, 1);
        const stored = await engine.store.iterations(result.queryId);
        assert.deepEqual(stored.map(({ status }) => status), ["interrupted"]);
      }]),
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
    event: "an unexpected error is thrown",
    next: "ended: `defect`; the error reaches the caller",
    drive: () =>
      throws({ openSandbox: () => Promise.reject(new TypeError("no sandbox today")) }, {
        error: /today/,
        reason: "defect",
      }),
  },
  {
    state: "any",
    event: "the database fails before there is an answer",
    next: "ended: `unstored`; the error reaches the caller",
    drive: () =>
      throws({ openSandbox: () => Promise.reject(new StoreError("Cannot write: the disk is full", "full")) }, {
        error: /full/,
        reason: "unstored",
      }),
  },
  {
    state: "any",
    event: "the accepted final cannot be stored",
    next: "ended: `unstored`; the answer reaches the caller, with the reason as its last note",
    drive: () =>
      withDatabase(async (path) => {
        const store = await openStore({ path });
        await using engine = await startEngine([ANSWERS], { store });
        const signal = new AbortController().signal;
        const emit = ({ type }: { readonly type: string }): void => {
          if (type === "usage") Deno.renameSync(path, `${path}.away`);
        };
        const result = await engine.conversations.ask(engine.branch, "count", { signal, emit });
        ended(result, "unstored", /^It is done: 1$/);
        assert.match(
          result.notes.at(-1) ?? "",
          /^Cannot use database .*: the file was removed or renamed while.* not at this path; restore its name, or start again/,
        );
      }),
  },
  {
    state: "any",
    event: "the process is lost",
    next: "ended: `process_lost`, when another process reads the query",
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
        owner: { host: "elsewhere", space: "s", pid: 1, started: "", session: 0 },
      });
      assert.equal(await engine.store.sweepLost(() => false), 1);
      const stored = await engine.store.query(queryId);
      assert.deepEqual([stored?.running, stored?.status, stored?.reason], [false, "interrupted", "process_lost"]);
      assert.notEqual(stored?.answer, "");
    },
  },
  {
    state: "any",
    event: "another process takes the conversation over",
    next: "ended: `process_lost`; nothing more is stored, and the error reaches the caller",
    drive: async () => {
      let swept: Promise<number> | null = null;
      await using engine: Engine = await startEngine([() => {
        swept = engine.store.sweepLost(() => false);
        return WORKS;
      }, ANSWERS]);
      await assert.rejects(engine.ask("count"), TakenOverError);
      assert.equal(await swept, 1);
      const [stored] = await engine.store.queries(engine.branch.branchId);
      assert.deepEqual([stored?.running, stored?.reason], [false, "process_lost"]);
    },
  },
];
