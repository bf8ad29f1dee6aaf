/** Plays the conversation of kill_script.ts from the point that the database has reached, and kills itself, or first
 * its sandbox, at one point: `deno run -A killable_main.ts DATABASE WORKSPACE POINT`, with POINT as JSON or "". Exits
 * with 0 when the conversation is complete, and with 3 if the model was not notified of an interruption. */
import { StatementSync } from "node:sqlite";
import fs from "../../extensions/fs/mod.ts";
import rlm from "../../extensions/rlm/mod.ts";
import { isAlive } from "../../src/app/session/process_owner.ts";
import { openStore } from "../../src/persistence/open_store.ts";
import type { Store } from "../../src/persistence/store.ts";
import { type ModelEvent, type ModelRequest, type Provider, UNKNOWN_MODEL } from "../../src/providers/provider.ts";
import { openSandbox } from "../../src/sandbox/host/open_sandbox.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { startEngine } from "../helpers/engine.ts";
import type { KillPoint } from "../helpers/kill_point.ts";
import { CALL, contextSource, replyBelow, replyOf, REQUESTS, stepOf, STEPS } from "../helpers/kill_script.ts";

const [path = "", workspace = "", given = ""] = Deno.args;
const point: KillPoint | null = given === "" ? null : JSON.parse(given);

class Playing {
  step = 1;
  cut: readonly string[] = [];
  #left = point?.nth ?? 1;
  #inside = "";
  #statements: number | null = null;
  #replies = 0;
  #ends = 0;
  #ended = Promise.withResolvers<void>();
  readonly #children: Sandbox[] = [];

  /** Kills the process if this is the point. */
  at(site: string): void {
    if (point === null || point.step !== this.step || point.site !== site || --this.#left > 0) return;
    this.#kill();
  }

  /** Marks the beginning of a transaction within which the process may have to end. */
  within(method: string): void {
    if (point?.step !== this.step || point.site !== `within ${method}`) return;
    this.#inside = method;
    this.#statements = point.nth ?? 1;
  }

  left(method: string): void {
    if (this.#inside === method) this.#statements = null;
  }

  /** Handles a call of the model. The reply belongs to the next step once the previous one has ended. */
  async asked(): Promise<void> {
    if (this.#replies > this.#ends) {
      this.at("request before the end");
      await this.#ended.promise;
    }
    this.#replies++;
  }

  iterationEnded(): void {
    this.#ends++;
    this.step++;
    this.#ended.resolve();
    this.#ended = Promise.withResolvers();
  }

  statement(): void {
    if (this.#statements !== null && --this.#statements === 0) this.#kill();
  }

  open: typeof openSandbox = async (options, test) => {
    const child = await openSandbox(options, test);
    this.#children.push(child);
    return child;
  };

  #kill(): void {
    if (point?.child) { for (const { pid, ended } of this.#children) if (!ended) Deno.kill(pid, "SIGKILL"); }
    Deno.kill(Deno.pid, "SIGKILL");
  }
}

const playing = new Playing();

function watched(store: Store): Store {
  return new Proxy(store, {
    get(target, name) {
      const found: unknown = Reflect.get(target, name, target);
      if (typeof found !== "function" || typeof name !== "string") return found;
      return (...args: unknown[]) => {
        playing.at(`before ${name}`);
        playing.within(name);
        const result: unknown = Reflect.apply(found, target, args);
        if (!(result instanceof Promise)) return result;
        return result.then((value) => {
          playing.left(name);
          playing.at(`after ${name}`);
          return value;
        });
      };
    },
  });
}

for (const method of ["run", "all"] as const) {
  const own = StatementSync.prototype[method];
  const counted: unknown = function (this: StatementSync, ...args: never[]): unknown {
    playing.statement();
    return Reflect.apply(own, this, args);
  };
  Object.defineProperty(StatementSync.prototype, method, { value: counted });
}

async function findPlace(store: Store): Promise<void> {
  const branch = await store.latestConversation(workspace);
  for (const { queryId } of branch ? await store.queries(branch.branchId) : []) {
    for (const { status, thinking, metadata } of await store.iterations(queryId)) {
      const step = stepOf(thinking) ?? 0;
      const { pendingBlocks } = metadata;
      playing.cut = status === "interrupted" && Array.isArray(pendingBlocks) ? pendingBlocks : [];
      if (status !== "interrupted") playing.step = Math.max(playing.step, step + 1);
    }
    // If a later query was interrupted before its first reply, the model is notified of that one.
    if ((await store.iterations(queryId)).length === 0) playing.cut = [];
  }
}

const provider: Provider = {
  name: "scripted",
  defaultModel: "script",
  models: () => Promise.resolve(["script"]),
  capabilities: () => UNKNOWN_MODEL,
  async *stream({ messages, model }: ModelRequest): AsyncGenerator<ModelEvent> {
    const texts = messages.map(({ text }) => text);
    const below = replyBelow(texts.slice(0, 2).join("\n"));
    if (below === null) {
      await playing.asked();
      told(texts.at(-1) ?? "");
    }
    const prefix = below === null ? "" : "child ";
    playing.at(`${prefix}request`);
    const text = below ?? replyOf(playing.step);
    yield { type: "text", delta: text.slice(0, 40) };
    playing.at(`${prefix}half`);
    yield { type: "text", delta: text.slice(40) };
    playing.at(`${prefix}reply`);
    yield { type: "end", usage: { ...CALL, cached: 0, reasoning: 0, calls: 1 }, model, finish: "stop" };
  },
};

/** Checks that the model is notified of the work that was running when the previous process ended. */
function told(context: string): void {
  const missing = playing.cut.filter((code) => !context.includes(code.split("\n")[0]?.slice(0, 40) ?? ""));
  if (playing.cut.length > 0 && (missing.length > 0 || !context.includes("It ended while"))) {
    console.error(`Not told of ${JSON.stringify(missing)}: ${context}`);
    Deno.exit(3);
  }
  playing.cut = [];
}

const store = await openStore({ path, isAlive });
await store.sweepLost(isAlive);
await findPlace(store);
const engine = await startEngine([], {
  store: watched(store),
  provider,
  workspace,
  extensions: [fs, rlm],
  openSandbox: playing.open,
  settings: { budget: STEPS.length },
});
for (;;) {
  const request = REQUESTS.findLast(({ first }) => first <= playing.step);
  if (!request || playing.step > STEPS.length) break;
  const given = (await store.variables(engine.branch.branchId)).some(({ name }) => name === "context");
  await engine.conversations.ask(engine.branch, request.text, {
    signal: new AbortController().signal,
    ...(given ? {} : { context: contextSource() }),
    emit: (event) => {
      const site = "block" in event ? `${event.type} ${event.block}` : event.type;
      if (event.type === "host_call") playing.at(`${event.type} ${event.phase}`);
      else if (event.parentQueryId === undefined) playing.at(site);
      else playing.at(`child ${site}`);
      if (event.type === "iteration_finished" && event.parentQueryId === undefined) playing.iterationEnded();
    },
  });
}
await engine.close();
