import { ENDED, messageOf } from "../domain/errors.ts";
import type { Clock } from "../domain/kit/concurrency.ts";
import type { CallAction, ShownOutcome } from "../domain/query/host_call.ts";
import type { Habits, PlainResults } from "./habitual_calls.ts";
import type {
  EnvironmentView,
  FileWatcher,
  NamedFile,
  NudgeContext,
  ReplyExample,
  Topic,
  WatchOptions,
} from "./spec.ts";

export interface ExtensionSource {
  activate(env: EnvironmentView, own?: OwnKeys): Promise<ActiveExtensions>;
  known?(envId: string): readonly { readonly namespace: string; readonly version: string }[];
  release?(envId: string): void;
  namedFile(env: EnvironmentView, path: string, options: { readonly chars: number }): Promise<NamedFile | null>;
  watchFiles?(env: EnvironmentView, options: WatchOptions): FileWatcher | null;
}

export interface ActiveExtensions {
  readonly list: readonly { readonly namespace: string; readonly version: string }[];
  readonly functions: readonly string[];
  readonly actions: Readonly<Record<string, (args: readonly unknown[]) => CallAction | null>>;
  readonly untimed: readonly string[];
  /** A key is a function. Its value maps names that its results lack to the right names. */
  readonly misnamed: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly reads: (name: string, args: readonly unknown[], request: { readonly onlyReads: boolean }) => boolean;
  readonly constants: Readonly<Record<string, unknown>>;
  readonly grants: Readonly<Record<"net" | "read" | "write" | "env", readonly string[]>>;
  readonly granted?: readonly { readonly namespace: string; readonly grants: ActiveExtensions["grants"] }[];
  readonly recorders?: readonly string[];
  readonly globals: readonly string[];
  readonly modules: Readonly<Record<string, string>>;
  readonly blocks: readonly string[];
  readonly example?: ReplyExample | undefined;
  readonly off?: readonly OffPart[];
  readonly faults?: () => readonly ExtensionFault[];
  readonly nudges: readonly { readonly namespace: string; nudge(ctx: NudgeContext): Promise<string | null> }[];
  call(name: string, args: readonly unknown[], options: FunctionCallOptions): Promise<unknown>;
  readonly habits?: Habits;
  readonly plain?: PlainResults;
  readonly topics?: (env: EnvironmentView) => Promise<readonly Topic[]>;
  doc(name: string): string | null;
}

interface FunctionCallOptions {
  readonly env: EnvironmentView;
  readonly signal: AbortSignal;
  readonly told?: (outcome: ShownOutcome) => void;
  readonly asks?: OwnCall["asks"];
}

export interface ExtensionFault {
  readonly namespace: string;
  readonly phase: string;
  readonly error: unknown;
}

export interface OffPart {
  readonly namespace: string;
  readonly alias: string;
  readonly functions: readonly string[];
  readonly how: string;
}

export function offLine(off: readonly OffPart[]): string {
  if (off.length === 0) return "";
  return `Off; tell the user if one would help: ${off.map(({ alias, how }) => `${alias} (${how})`).join(", ")}`;
}

export function offReason(name: string, off: readonly OffPart[]): string | null {
  const found = off.find(({ alias }) => name === alias || name.startsWith(`${alias}.`));
  return found ? `${found.alias} is off; the user can change this (${found.how})` : null;
}

export type Part = Omit<ActiveExtensions, "call">;

export function joinParts(parts: readonly Part[], call: ActiveExtensions["call"]): ActiveExtensions {
  const union = (key: keyof ActiveExtensions["grants"]): readonly string[] => [
    ...new Set(parts.flatMap(({ grants }) => grants[key])),
  ];
  return {
    list: parts.flatMap(({ list }) => list),
    functions: parts.flatMap(({ functions }) => functions),
    actions: Object.assign({}, ...parts.map(({ actions }) => actions)),
    untimed: parts.flatMap(({ untimed }) => untimed),
    misnamed: Object.assign({}, ...parts.map(({ misnamed }) => misnamed)),
    reads: (...call) => parts.some(({ reads }) => reads(...call)),
    constants: Object.assign({}, ...parts.map(({ constants }) => constants)),
    grants: { net: union("net"), read: union("read"), write: union("write"), env: union("env") },
    granted: parts.flatMap(({ grants, list }) =>
      Object.values(grants).some(({ length }) => length > 0) ? list.map(({ namespace }) => ({ namespace, grants })) : []
    ),
    recorders: parts.flatMap(({ recorders = [] }) => recorders),
    globals: [...new Set(parts.flatMap(({ globals }) => globals))],
    modules: Object.assign({}, ...parts.map(({ modules }) => modules)),
    blocks: parts.flatMap(({ blocks }) => blocks),
    example: parts.find(({ example }) => example)?.example,
    nudges: parts.flatMap(({ nudges }) => nudges),
    faults: () => parts.flatMap(({ faults }) => faults?.() ?? []),
    habits: Object.assign({}, ...parts.map(({ habits }) => habits).reverse()),
    plain: Object.assign({}, ...parts.map(({ plain }) => plain)),
    topics: async (env) => (await Promise.all(parts.map(({ topics }) => topics?.(env) ?? []))).flat(),
    call,
    doc: (name) => parts.reduce<string | null>((found, part) => found ?? part.doc(name), null),
  };
}

export type OwnKeys = (namespace: string, call?: OwnCall) => Partial<EnvironmentView>;

export interface OwnCall {
  readonly signal: AbortSignal;
  readonly ended: AbortSignal;
  readonly untimed: boolean;
  readonly refused?: () => void;
  /** A time limit can stop while an approval waits for the user. */
  readonly asks?: (<Answer>(question: () => Promise<Answer>) => Promise<Answer>) | undefined;
}

/** Values change, so the view reads each key on access. */
export function callView(env: EnvironmentView, own: Partial<EnvironmentView>): EnvironmentView {
  const read = (key: PropertyKey): unknown => {
    if (Object.hasOwn(own, key)) return Reflect.get(own, key);
    const found: unknown = Reflect.get(env, key, env);
    return typeof found === "function" ? found.bind(env) : found;
  };
  const has = (key: PropertyKey): boolean => Object.hasOwn(own, key) || Reflect.has(env, key);
  return new Proxy<EnvironmentView>(Object.create(null), {
    get: (_target, key) => read(key),
    has: (_target, key) => has(key),
    ownKeys: () => [...new Set([...keysOf(env), ...Reflect.ownKeys(own)])],
    getOwnPropertyDescriptor: (_target, key) =>
      has(key) ? { value: read(key), enumerable: true, configurable: true } : undefined,
    set: () => false,
    defineProperty: () => false,
    deleteProperty: () => false,
    preventExtensions: () => false,
    setPrototypeOf: () => false,
  });
}

/** Calls of an environment inherit the keys that they share, so inherited keys count. */
function keysOf(env: EnvironmentView): string[] {
  const keys: string[] = [];
  for (const key in env) keys.push(key);
  return keys;
}

export function scopeOf(
  { conversationId, currentIterationId: iterationId }: EnvironmentView,
): { readonly conversationId: string; readonly iterationId?: string } {
  return { conversationId, ...(iterationId ? { iterationId } : {}) };
}

export const ANSWER_MS = 30_000;
/** An `extend` that starts servers may need minutes. */
export const EXTEND_MS = 630_000;

export class TookTooLong extends Error {
  constructor(readonly ms: number) {
    super(
      `Cannot get a result of the extension: its promise did not settle within ${ms / 1000} s, the limit; correct ` +
        "the extension, or add its name to extensions.deny",
    );
  }
}

export async function answerInTime<T>(
  ask: () => T,
  { clock, ms = ANSWER_MS }: { readonly clock: Pick<Clock, "sleep">; readonly ms?: number },
): Promise<Awaited<T>> {
  const answer = ask();
  if (typeof Object(answer).then !== "function") return await answer;
  const over = new AbortController();
  const limit = clock.sleep(ms, over.signal).then((): never => {
    throw new TookTooLong(ms);
  });
  try {
    return await Promise.race([answer, limit]);
  } finally {
    over.abort(ENDED);
  }
}

/** In a stack frame, the folder of a copied extension has a hash and a format as its name. */
const OWN_FRAME = /\/[0-9a-f]{64}-\d+(?:-tests)?\/([^\n()]+?)\.mjs:(\d+):\d+/;

export function messageWithLine(error: unknown): string {
  let place = "";
  for (let at = error; at instanceof Error; at = at.cause) {
    const [, path, line] = OWN_FRAME.exec(at.stack ?? "") ?? [];
    if (path !== undefined) place = ` (${path}:${line})`;
  }
  return `${messageOf(error) || "an error without a message"}${place}`;
}
