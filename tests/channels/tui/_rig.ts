import type { ScreenRequest, Session } from "../../../src/channels/channel.ts";
import { DEFAULT_PREFS, type Prefs, type PrefsKeeper } from "../../../src/channels/tui/prefs.ts";
import { runScreen } from "../../../src/channels/tui/run_screen.ts";
import type { ScreenParts } from "../../../src/channels/tui/screen.ts";
import { NO_USAGE } from "../../../src/domain/query/model_call.ts";
import { Emitter } from "../../../src/domain/query/query_event.ts";
import type { QueryResult } from "../../../src/domain/query/query_schemas.ts";
import { type Engine, type EngineOptions, startEngine } from "../../helpers/engine.ts";
import type { ScriptedReply } from "../../helpers/scripted_provider.ts";
import { VirtualScreen } from "./_screen.ts";

export interface ScreenRig {
  readonly screen: VirtualScreen;
  readonly engine: Engine;
  readonly out: string[];
  readonly prefs: PrefsKeeper;
  gone(): void;
  readonly code: Promise<number>;
}

export interface RigOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly early?: string;
  readonly home?: string | null;
  readonly color?: boolean;
  readonly prefs?: Partial<Prefs>;
  readonly place?: Partial<Pick<ScreenRequest, "continue" | "conversation" | "request" | "addDir" | "cwd">>;
  readonly shows?: string;
  readonly engine?: EngineOptions;
  readonly session?: Partial<Session>;
  readonly parts?: Partial<ScreenParts>;
  readonly before?: (engine: Engine) => Promise<void>;
}

/** Makes a query whose answer arrives in pieces, each some milliseconds after the one before, without other pauses. */
export function streamsAnswer(
  { conversations }: Engine,
  { answer, chunk = 24, ms = 1 }: { readonly answer: string; readonly chunk?: number; readonly ms?: number },
): void {
  conversations.ask = async (target, request, { emit, signal }) => {
    const conversationId = "conversationId" in target ? target.conversationId : "c";
    const emitter = new Emitter(emit, { queryId: "q", now: Date.now });
    emitter.send({ type: "started", conversationId, request, model: "script" });
    emitter.iteration = 1;
    for (let at = 0; at < answer.length && !signal.aborted; at += chunk) {
      emitter.send({ type: "answer_delta", delta: answer.slice(at, at + chunk) });
      await new Promise((resolve) => setTimeout(resolve, ms));
    }
    emitter.iteration = null;
    const result: QueryResult = {
      ...{ status: "done", reason: "answered", answer, answerType: "markdown", confidence: "high", queryId: "q" },
      ...{ conversationId, iterations: 1, usage: NO_USAGE, costUsd: null, ms: 1, notes: [] },
    };
    emitter.send({ type: "final", result });
    return result;
  };
}

const never = (): never => {
  throw new TypeError("This was not to be asked");
};

/** Shows the screen on a terminal in memory, with a real engine and a scripted model. It leaves the screen at the
 * end. */
export async function withScreen(
  replies: readonly ScriptedReply[],
  options: RigOptions,
  work: (rig: ScreenRig) => Promise<void>,
): Promise<void> {
  await using engine = await startEngine(replies, { workspace: "/nowhere", ...options.engine });
  await options.before?.(engine);
  const screen = new VirtualScreen(options);
  const out: string[] = [];
  const prefs = keeper({ ...DEFAULT_PREFS, ...options.prefs });
  const told = { gone: never as () => void };
  const session: Session = {
    conversations: engine.conversations,
    workspace: "/nowhere",
    provider: "scripted",
    model: "script",
    database: "/nowhere/vis.db",
    close: () => Promise.resolve(),
    ...options.session,
  };
  const code = runScreen({
    ...{ io: { stdout: (text) => void out.push(text) }, prefs, userHome: "" },
    ...{
      providers: never,
      config: never,
      extensions: never,
      runCommand: never,
      home: options.home ?? null,
      color: options.color ?? false,
    },
    ...options.parts,
    terminal: (gone) => {
      told.gone = gone;
      return screen;
    },
  }, { session, place: options.place ?? {} });
  code.catch(() => {});
  try {
    await Promise.race([screen.until(options.shows ?? "scripted script"), code.then(() => {}, () => {})]);
    await work({ screen, engine, out, prefs, code, gone: () => told.gone() });
  } finally {
    if (screen.started) told.gone();
    await code.catch(() => {});
  }
}

function keeper(prefs: Prefs): PrefsKeeper {
  const held = { prefs };
  return {
    get: () => held.prefs,
    set: (change) => {
      held.prefs = { ...held.prefs, ...change };
      return Promise.resolve();
    },
  };
}
