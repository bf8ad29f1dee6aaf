/** All that an extension may import. */
import { z } from "zod";
import type * as keys from "./environment_keys.ts";
import { type NormalExtension, validateExtension } from "./validate_extension.ts";

export { z };
export { abortable } from "../domain/kit/abortable.ts";
export { BoundedMap } from "../domain/kit/bounded_map.ts";
export { messageOf, reasonOf } from "../domain/kit/message_of.ts";
export { editDistance, nearestName, nearestNames } from "../domain/kit/nearest_name.ts";
export { Semaphore } from "../domain/kit/semaphore.ts";
export { settledWithin } from "../domain/kit/settled_within.ts";

/** What an extension sees of the conversation it runs in; docs/extensions.md has it as a table. Nothing of it can be
 * changed. Keys with `?` are missing where that part is, as in a test. */
export type EnvironmentView = keys.ConversationKeys & keys.QueryKeys;
export type { ChildOptions, ChildResult } from "./environment_keys.ts";

export interface NudgeContext {
  readonly environment: EnvironmentView;
  /** 0-based: how many iterations of the budget are used. */
  readonly iteration: number;
  readonly currentMaxIterations: number;
  /** The blocks that ran last; null before any has run and after a restart. */
  readonly prevExpressions: readonly PrevExpression[] | null;
  /** The iteration of `prevExpressions`, 0-based; -1 where that is null. */
  readonly prevIteration: number;
  readonly userVarCount: number;
}

type PrevExpression =
  & Readonly<Record<"code" | "preview" | "stdout" | "stderr", string>>
  & Readonly<{ error?: string; executionTimeMs: number; timedOut: boolean; repaired: boolean }>;

/** A host function: the call's environment first, then the model's arguments. May throw; the message is shown. */
// deno-lint-ignore no-explicit-any
export type HostFunction = (env: EnvironmentView, ...args: any[]) => unknown;

type Call = { readonly env: EnvironmentView; readonly fn: HostFunction; readonly args: readonly unknown[] };
type Changes = Partial<Call> & { readonly result?: unknown; readonly error?: unknown };
export type Before = (input: Call) => Changes | Promise<unknown>;
export type After = (input: Call & { readonly result: unknown }) => Changes | Promise<unknown>;
export type OnError = (input: Call & { readonly error: unknown }) => Changes | Promise<unknown>;

export interface FunctionOptions {
  readonly doc: string;
  /** A zod tuple, checked before the call and printed as the signature; `.describe("path")` names an item. */
  readonly args: z.ZodType;
  /** TypeScript text of what the promise resolves to. */
  readonly returns: string;
  /** Made from the argument list where absent. */
  readonly examples?: readonly string[];
  /** It has a time limit of its own: waiting for it takes none of the block's time. */
  readonly untimed?: boolean;
  readonly before?: Before;
  readonly after?: After;
  readonly onError?: OnError;
}

export type FunctionSymbol =
  & FunctionOptions
  & { readonly kind: "function"; readonly name: string; readonly fn: HostFunction };
export type ValueSymbol = Readonly<{ kind: "value"; name: string; value: unknown; doc: string }>;

/** A bundle of functions, constants, prompt and nudge. docs/extensions.md explains every key. */
export interface Extension {
  /** Unique: the key for replacing and for `requires`. */
  readonly namespace: string;
  /** Symbols exist only under it: `search.find`. */
  readonly alias: { readonly ns: string; readonly alias: string };
  readonly doc: string;
  readonly group?: string;
  readonly subgroup?: string;
  readonly version: string;
  readonly author?: string;
  readonly license?: string;
  readonly requires?: readonly string[];
  /** Asked at each query; false leaves symbols, prompt and nudge out. */
  readonly activate?: (env: EnvironmentView) => boolean | Promise<boolean>;
  readonly prompt?: string | ((env: EnvironmentView) => string | Promise<string>);
  /** A step with its functions, and the answer that follows: the prompt shows that of the first extension that has one. */
  readonly example?: ReplyExample;
  readonly nudge?: (ctx: NudgeContext) => string | null;
  /** Asked at each query, before `activate`: further extensions for this conversation, such as aliases by settings. */
  readonly extend?: (env: EnvironmentView) => readonly Extension[] | Promise<readonly Extension[]>;
  /** The ones used most first: an extension with many shows those in the prompt and names the rest. */
  readonly symbols?: readonly (FunctionSymbol | ValueSymbol)[];
  /** How many symbols the prompt shows in full, 12 by default; it names the rest. */
  readonly shown?: number;
  /** Platform globals for the realm: "fetch", "Deno.readTextFile"; each needs the `allow` that fits, and the reverse. */
  readonly globals?: readonly string[];
  /** Bare names of the realm to files of its folder, "./stats.ts": each stands alone and is evaluated inside it. */
  readonly modules?: Readonly<Record<string, string>>;
  /** Grants to the sandbox itself; most extensions need none. */
  readonly allow?: Partial<Readonly<Record<"net" | "read" | "write" | "env", readonly string[]>>>;
  /** Off unless its settings say `enabled: true` or `extensions.allow` names it; never loaded by the locked profile. */
  readonly optIn?: boolean;
  /** What the locked profile loads of it over a workspace that may only be read: all of it, or these functions with a
   * prompt that names no others. Where absent: nothing of a shipped extension. */
  readonly readOnly?: true | Readonly<{ symbols: readonly string[]; prompt: string }>;
  /** Shape of its section `extensions.config` of the configuration; `env.config` is what it makes of it. */
  readonly config?: z.ZodType;
  /** Commands of `vis`. */
  readonly cli?: readonly CliCommand[];
  /** Asked by `vis doctor`, also while the extension is off. */
  readonly doctor?: (context: DoctorContext) => readonly DoctorCheck[] | Promise<readonly DoctorCheck[]>;
}

/** Reasoning, a block with its expected time, and an answer over the variables that the block makes. */
export type ReplyExample = Readonly<{ thinking: string; code: string; timeMs: number; answer: string }>;

export interface DoctorContext {
  /** What `config` made of its section. */
  readonly config: unknown;
  /** Runs a program in an empty folder, behind the wall and without network; null where no program can run. */
  readonly spawn: NonNullable<keys.ConversationKeys["spawn"]> | null;
}

/** A line of `vis doctor`; what is not ok says in `fix` what to do about it. */
export type DoctorCheck = Readonly<{ name: string; state: "ok" | "warn" | "fail"; found: string; fix: string }>;

/** `vis reindex DOCS --limit 5`: required keys of `args` stand in order, optional ones are flags. */
export interface CliCommand {
  readonly name: string;
  readonly doc: string;
  readonly args?: z.ZodObject;
  /** The exit code, 0 where there is none. */
  // deno-lint-ignore no-explicit-any
  readonly run: (args: any, context: CliContext) => number | void | Promise<number | void>;
}
type CliContext = Readonly<{ print(text: string): void; workspace: string; home: string | null; config: unknown }>;

export function fn(name: string, run: HostFunction, options: FunctionOptions): FunctionSymbol {
  return { kind: "function", name, fn: run, ...options };
}

export function value(name: string, constant: unknown, options: { readonly doc: string }): ValueSymbol {
  return { kind: "value", name, value: constant, doc: options.doc };
}

/** Throws TypeError naming the key and the extension; returns the extension with every optional key filled in. */
export function validate(spec: Extension): NormalExtension {
  return validateExtension(spec);
}

/** What an extension's module exports as its default. Throws as `validate` does. */
export function defineExtension(spec: Extension): NormalExtension {
  return validateExtension(spec);
}
