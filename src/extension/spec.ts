/** Everything that an extension may import. */
import { z } from "zod";
import type { CallOutcome } from "../domain/query/calls.ts";
import type { CallAction } from "../domain/query/calls.ts";
import type { CliContext } from "./cli_context.ts";
import { type NormalExtension, validateExtension } from "./validate_extension.ts";
import type * as keys from "./environment_keys.ts";

export { validateExtension as validate, z };
export * from "./kit.ts";

/** What an extension sees, read-only: docs/extensions.md. A key marked `?` is absent where its part is, as in a test. */
export type EnvironmentView = keys.ConversationKeys & keys.QueryKeys;
export type { CallOutcome };
export type { CliContext } from "./cli_context.ts";
export type { ChildOptions, ChildResult } from "./environment_keys.ts";

export interface NudgeContext {
  readonly environment: EnvironmentView;
  /** How many iterations of the budget are used, 0-based. */
  readonly iteration: number;
  readonly currentMaxIterations: number;
  /** The blocks that ran last; null before the first one and after a restart. */
  readonly prevExpressions: readonly PrevExpression[] | null;
  /** The iteration of `prevExpressions`, 0-based; -1 if that is null. */
  readonly prevIteration: number;
  readonly userVarCount: number;
}

/** `result` is the value, read when it is used; undefined if there is none or it is not data. */
type PrevExpression =
  & Readonly<Record<"code" | "preview" | "stdout" | "stderr", string>>
  & Readonly<{ result: unknown; error?: string; executionTimeMs: number; timedOut: boolean; repaired: boolean }>;

/** A host function: gets the call's environment, then the model's arguments. If it throws, the model sees the message. */
// deno-lint-ignore no-explicit-any
export type HostFunction = (env: EnvironmentView, ...args: any[]) => unknown;

type Call = { readonly env: EnvironmentView; readonly fn: HostFunction; readonly args: readonly unknown[] };
type Changes = Partial<Call> & { readonly result?: unknown; readonly error?: unknown };
export type Before = (input: Call) => Changes | Promise<unknown>;
export type After = (input: Call & { readonly result: unknown }) => Changes | Promise<unknown>;
export type OnError = (input: Call & { readonly error: unknown }) => Changes | Promise<unknown>;

export interface FunctionOptions {
  readonly doc: string;
  /** A zod tuple, validated before the call and printed as the signature; `.describe("path")` names an item. */
  readonly args: z.ZodType;
  /** The TypeScript type that the promise resolves to. */
  readonly returns: string;
  /** Generated from the argument list if absent. */
  readonly examples?: readonly string[];
  /** It has a time limit of its own and does not count against the block's time. */
  readonly untimed?: boolean;
  /** Whether it changes nothing that lasts and may be called for a plan; by default, what `readOnly` loads. */
  readonly reads?: boolean;
  /** What a call does, for people who watch; "called search.find" if absent. */
  readonly action?: CallAction;
  /** How a call turned out, in a few words for people who watch, from its result: "12 passed". With `ok: false`
   * instead of a plain text, the call is shown as failed, with the end of `output`. */
  // deno-lint-ignore no-explicit-any
  readonly outcome?: (result: any) => string | CallOutcome;
  /** Bytes that a call may hold in memory while it runs, for one that holds many: calls wait until theirs fit. */
  readonly room?: number | ((...args: readonly unknown[]) => number);
  readonly before?: Before;
  readonly after?: After;
  readonly onError?: OnError;
}

export type FunctionSymbol = FunctionOptions & Readonly<{ kind: "function"; name: string; fn: HostFunction }>;
export type ValueSymbol = Readonly<{ kind: "value"; name: string; value: unknown; doc: string }>;

/** A bundle of functions, constants, prompt and nudge. docs/extensions.md explains every key. */
export interface Extension {
  /** Unique; used for replacement and by `requires`. */
  readonly namespace: string;
  /** All symbols are under it: `search.find`. */
  readonly alias: { readonly ns: string; readonly alias: string };
  readonly doc: string;
  readonly group?: string;
  readonly subgroup?: string;
  readonly version: string;
  readonly author?: string;
  readonly license?: string;
  readonly requires?: readonly string[];
  /** Called for each query; a falsy result, or a promise of one, leaves out symbols, prompt and nudge. */
  readonly activate?: (env: EnvironmentView) => unknown;
  /** Of shipped extensions: what the user does so that `activate` lets it in. The prompt says it while it is left out. */
  readonly howToEnable?: string;
  readonly prompt?: string | ((env: EnvironmentView) => string | Promise<string>);
  /** A sample step and the answer that follows. The prompt shows that of the first active extension that has one. */
  readonly example?: ReplyExample;
  readonly nudge?: (ctx: NudgeContext) => string | null;
  /** Called for each query, before `activate`: more extensions for this conversation, such as aliases from settings. */
  readonly extend?: (env: EnvironmentView) => readonly Extension[] | Promise<readonly Extension[]>;
  /** Most used first: if there are many, the prompt shows the first ones in full and only names the rest. */
  readonly symbols?: readonly (FunctionSymbol | ValueSymbol)[];
  /** How many symbols the prompt shows in full, 12 by default; it only names the rest. */
  readonly shown?: number;
  /** Platform globals for the realm, such as "fetch"; each needs a matching `allow`, and each `allow` a global. */
  readonly globals?: readonly string[];
  /** Import names for the realm, each mapped to a self-contained file of the extension's folder, as "./stats.ts". */
  readonly modules?: Readonly<Record<string, string>>;
  /** Grants to the sandbox itself; most extensions need none. */
  readonly allow?: Partial<Readonly<Record<"net" | "read" | "write" | "env", readonly string[]>>>;
  /** Default of its setting `enabled`; on if `extensions.allow` names it, never in the locked profile. Absent: always on. */
  readonly onByDefault?: boolean;
  /** What the locked profile loads of it for a read-only workspace: everything, or the listed functions with a prompt
   * that names no others. If absent, nothing of a shipped extension is loaded. */
  readonly readOnly?: true | Readonly<{ symbols: readonly string[]; prompt: string }>;
  /** Schema of its section in `extensions.config`; `env.config` is the parsed result. */
  readonly config?: z.ZodType;
  /** Commands that it adds to `vis`. */
  readonly cli?: readonly CliCommand[];
  /** Called by `vis doctor`, even while the extension is off. */
  readonly doctor?: (context: DoctorContext) => readonly DoctorCheck[] | Promise<readonly DoctorCheck[]>;
}

/** Reasoning, a block with its estimated time, and an answer that uses the variables of the block. */
export type ReplyExample = Readonly<{ thinking: string; code: string; timeMs: number; answer: string }>;

export interface DoctorContext {
  /** The extension's section of the configuration, as parsed by `config`. */
  readonly config: unknown;
  /** Runs a program in an empty folder, behind the kernel wall and without network; null if programs cannot run here. */
  readonly spawn: NonNullable<keys.ConversationKeys["spawn"]> | null;
  /** The same in the workspace, as in a conversation. */
  readonly spawnInWorkspace: NonNullable<keys.ConversationKeys["spawn"]> | null;
  readonly workspace: string;
  readonly home: string | null;
}

/** A line of `vis doctor`. Unless `state` is "ok", `fix` says what to do. */
export type DoctorCheck = Readonly<{ name: string; state: "ok" | "warn" | "fail"; found: string; fix: string }>;

/** `vis reindex DOCS --limit 5`: required keys of `args` are positional, optional ones are flags. */
export interface CliCommand {
  readonly name: string;
  readonly doc: string;
  readonly args?: z.ZodObject;
  /** Returns the exit code; 0 if it returns nothing. */
  // deno-lint-ignore no-explicit-any
  readonly run: (args: any, context: CliContext) => number | void | Promise<number | void>;
}

export function fn(name: string, run: HostFunction, options: FunctionOptions): FunctionSymbol {
  return { kind: "function", name, fn: run, ...options };
}

export function value(name: string, constant: unknown, options: { readonly doc: string }): ValueSymbol {
  return { kind: "value", name, value: constant, doc: options.doc };
}

/** Validates an extension and fills in its optional keys. Throws TypeError that names the key and the extension. */
export function defineExtension(spec: Extension): NormalExtension {
  return validateExtension(spec);
}
