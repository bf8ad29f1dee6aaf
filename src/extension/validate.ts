import { reasonOf } from "../domain/errors.ts";
import { parseNetGrant, REALM_GLOBALS } from "../domain/sandbox_grants.ts";
import { inputFault } from "../domain/input_fault.ts";
import { type EnvironmentView, type Extension, TAKEN_NAMES } from "./spec.ts";
import { z } from "zod";

export const REALM_SCRIPTS: unique symbol = Symbol("realm scripts");

export interface NormalExtension extends Extension {
  readonly group: string;
  readonly subgroup: string;
  readonly requires: readonly string[];
  readonly activate: (env: EnvironmentView) => unknown;
  readonly prompt: (env: EnvironmentView) => string | Promise<string>;
  readonly symbols: NonNullable<Extension["symbols"]>;
  readonly [REALM_SCRIPTS]?: Readonly<Record<string, string>>;
}

const NAMESPACE = /^[A-Za-z][\w-]*(?:\.[A-Za-z][\w-]*)*$/;
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
const RESULT_NAME = /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*$/;
const COMMAND = /^[a-z][a-z0-9-]*$/;
const VERSION = /^\d+\.\d+\.\d+(?:[-+][\w.+-]+)?$/;
/** `then` would turn the alias into a promise. JavaScript itself uses the other four names. */
const UNUSABLE_SYMBOLS = ["then", "constructor", "prototype", "__proto__", "toJSON"];
const isFunction = (value: unknown): boolean => typeof value === "function";
const func = z.custom<(...args: unknown[]) => unknown>(isFunction, "must be a function");
const text = z.string("must be a string").refine((value) => value.trim() !== "", "must not be blank");
const word = (pattern: RegExp, example: string) =>
  z.string("must be a string").regex(pattern, `must look like ${example}`);
const names = z.array(text, "must be a list of strings");

const ACTION = 'must be {doing: "reading", done: "read", things: "files"} or a function';
export const ActionShape = z.strictObject({
  doing: text,
  done: text,
  things: text,
  named: z.number().int().min(0).optional(),
  folder: z.string().optional(),
  limitMs: z.number().min(0).optional(),
});

const FunctionShape = z.strictObject({
  kind: z.literal("function"),
  name: word(IDENTIFIER, '"readFile"'),
  fn: func,
  doc: text,
  args: z.custom<z.ZodType>(isTuple, "must be a zod tuple: z.tuple([…])"),
  returns: text,
  examples: z.array(text).optional(),
  insteadOf: z.array(text).optional(),
  unlisted: z.union([z.boolean(), func], "must be true, false or a function").optional(),
  usage: text.optional(),
  untimed: z.boolean().optional(),
  misnamed: z.record(word(RESULT_NAME, '"exitCode" or "commits.sha"'), text).optional(),
  reads: z.union([z.boolean(), func], "must be true, false or a function").optional(),
  inPlans: z.boolean().optional(),
  action: z.union([ActionShape, func], ACTION).optional(),
  outcome: func.optional(),
  tellsFailure: z.boolean().optional(),
  room: z.union([z.number().min(0), func], "must be a number or a function").optional(),
  before: func.optional(),
  after: func.optional(),
  onError: func.optional(),
});
const ValueShape = z.strictObject({
  kind: z.literal("value"),
  name: word(IDENTIFIER, '"maxResults"'),
  value: z.custom<unknown>((value) => value !== undefined && !isFunction(value), "must be a constant"),
  doc: text,
});

const READ_ONLY = 'must be true or {symbols: ["find"], prompt: "…"}';

const ExtensionShape = z.strictObject({
  namespace: word(NAMESPACE, '"com.acme.search"'),
  alias: z.strictObject({
    ns: word(NAMESPACE, '"vis.ext.search"'),
    alias: word(IDENTIFIER, '"search"').refine(
      (name) => !TAKEN_NAMES.has(name),
      "is a reserved word or a name of the sandbox",
    ),
  }, 'must be {ns: "vis.ext.search", alias: "search"}'),
  doc: text,
  group: text.optional(),
  subgroup: text.optional(),
  version: word(VERSION, '"1.0.0"'),
  author: text.optional(),
  license: text.optional(),
  requires: names.optional(),
  activate: func.optional(),
  howToEnable: text.optional(),
  prompt: z.union([z.string(), func], "must be a string or a function").optional(),
  example: z.strictObject({ thinking: text, code: text, timeMs: z.number(), answer: text }).optional(),
  nudge: func.optional(),
  topics: func.optional(),
  requests: func.optional(),
  extend: func.optional(),
  watchFiles: func.optional(),
  namedFile: func.optional(),
  fileRead: func.optional(),
  symbols: z.array(z.discriminatedUnion("kind", [FunctionShape, ValueShape], "must be made by fn() or value()"))
    .optional(),
  shown: z.number("must be a number").int().min(0).optional(),
  globals: names.optional(),
  modules: z.record(z.string(), text, "must be names with paths").optional(),
  allow: z.strictObject({
    net: names.optional(),
    read: names.optional(),
    write: names.optional(),
    env: names.optional(),
  }).optional(),
  onByDefault: z.boolean().optional(),
  readOnly: z.union(
    [z.literal(true), z.strictObject({ symbols: names, prompt: z.union([z.string(), func]) })],
    READ_ONLY,
  ).optional(),
  config: z.custom<z.ZodType>((value) => value instanceof z.ZodType, "must be a zod type: z.object({…})").optional(),
  section: text.optional(),
  cli: z.array(z.strictObject({
    name: word(COMMAND, '"reindex"'),
    doc: text,
    args: z.custom<z.ZodObject>((value) => value instanceof z.ZodObject, "must be a zod object").optional(),
    run: func,
  })).optional(),
  doctor: func.optional(),
});

const switchOf = (onByDefault: boolean) => z.strictObject({ enabled: z.boolean().default(onByDefault) }).prefault({});

/** The message already names the extension or the file, so callers add no name. */
export class ExtensionRefusal extends TypeError {}

/** The checks do not depend on other extensions. Throws TypeError that names the key and the extension. */
export function defineExtension(spec: Extension): NormalExtension {
  const checked = ExtensionShape.safeParse(spec, { error: inputFault });
  const found = checked.success ? faultOf(spec) : describe(checked.error, spec);
  if (found !== null) throw new ExtensionRefusal(`Cannot use extension ${nameOf(spec)}: ${found}`);
  const group = spec.group ?? "general";
  return {
    ...spec,
    group,
    subgroup: spec.subgroup ?? group,
    requires: spec.requires ?? [],
    activate: spec.activate ?? (() => true),
    prompt: asFunction(spec.prompt),
    symbols: spec.symbols ?? [],
    ...(spec.onByDefault === undefined || spec.config ? {} : { config: switchOf(spec.onByDefault) }),
  };
}

export function asFunction(prompt: Extension["prompt"]): NormalExtension["prompt"] {
  return typeof prompt === "function" ? prompt : () => prompt ?? "";
}

function faultOf(spec: Extension): string | null {
  const seen = new Set<string>();
  for (const { name } of spec.symbols ?? []) {
    if (UNUSABLE_SYMBOLS.includes(name)) return `symbols.${name} is a name that JavaScript uses itself`;
    if (seen.has(name)) return `symbols.${name} is defined twice`;
    seen.add(name);
  }
  const commands = spec.cli?.map(({ name }) => name) ?? [];
  const twice = commands.find((name, at) => commands.indexOf(name) !== at);
  if (twice !== undefined) return `cli.${twice} is defined twice`;
  const reading = spec.readOnly === true ? [] : spec.readOnly?.symbols ?? [];
  const unknown = reading.find((name) => !seen.has(name));
  if (unknown !== undefined) return `readOnly.symbols names ${unknown}, which symbols does not list`;
  if (spec.requires?.includes(spec.namespace)) return "requires names the extension itself";
  return moduleFault(spec) ?? grantFault(spec);
}

function describe(error: z.ZodError, spec: unknown): string {
  return error.issues.slice(0, 5).map((issue) => {
    if (issue.code === "unrecognized_keys") {
      return `${keyOf([...issue.path, issue.keys[0] ?? ""], spec)} is not a known key`;
    }
    const missing = issue.code === "invalid_type" && valueAt(spec, issue.path) === undefined;
    return `${keyOf(issue.path, spec)} ${missing ? "is missing" : issue.message}`;
  }).join(", and ");
}

function keyOf(path: readonly PropertyKey[], spec: unknown): string {
  return path.map((part, at) => {
    const name = typeof part === "number" ? valueAt(spec, [...path.slice(0, at + 1), "name"]) : undefined;
    return typeof name === "string" && name !== "" ? name : String(part);
  }).join(".") || "the specification";
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root;
  for (const part of path) {
    if (typeof value !== "object" || value === null) return undefined;
    value = Object.getOwnPropertyDescriptor(value, part)?.value;
  }
  return value;
}

function nameOf(spec: unknown): string {
  const name = valueAt(spec, ["namespace"]);
  return typeof name === "string" && name !== "" ? name : "without a namespace";
}

function isTuple(value: unknown): boolean {
  return value instanceof z.ZodTuple;
}

const PATH = /^\.\/(?:(?!\.\.?\/)[\w.-]+\/)*[\w.-]+\.m?[jt]s$/;
const MAX_MODULES = 50;

function moduleFault({ modules = {}, alias }: Extension): string | null {
  const entries = Object.entries(modules);
  if (entries.length > MAX_MODULES) return `modules has ${entries.length} names, and the limit is ${MAX_MODULES}`;
  for (const [name, path] of entries) {
    if (!IDENTIFIER.test(name)) return `modules.${name} must be a name like "stats"`;
    // Each global of this process either exists in the realm too, or is missing there on purpose.
    if (TAKEN_NAMES.has(name) || name in globalThis) {
      return `modules.${name} is a reserved word or the name of a global`;
    }
    if (name === alias.alias) return `modules.${name} has the name of the alias`;
    if (!PATH.test(path)) {
      return `modules.${name} is ${path}, but must be the path of a script in its folder, such as "./stats.ts"`;
    }
  }
  return null;
}

const KINDS = ["net", "read", "write", "env"] as const;
const VARIABLE = /^[A-Za-z_]\w*$/;

function grantFault({ globals = [], allow = {} }: Extension): string | null {
  for (const name of globals) {
    const kind = Object.hasOwn(REALM_GLOBALS, name) ? REALM_GLOBALS[name] : undefined;
    if (!kind) return `globals.${name} does not exist; choose one of ${Object.keys(REALM_GLOBALS).join(", ")}`;
    if (!allow[kind]?.length) return `globals.${name} needs allow.${kind}, which is empty`;
  }
  for (const kind of KINDS) {
    if (!allow[kind]?.length) continue;
    const users = Object.keys(REALM_GLOBALS).filter((name) => REALM_GLOBALS[name] === kind);
    if (!users.some((name) => globals.includes(name))) {
      return `allow.${kind} has no effect without one of these globals: ${users.join(", ")}`;
    }
  }
  const variable = allow.env?.find((name) => !VARIABLE.test(name));
  if (variable !== undefined) return `allow.env.${variable} is not the name of a variable`;
  return allow.net?.map(netFault).find((fault) => fault !== null) ?? null;
}

function netFault(text: string): string | null {
  try {
    parseNetGrant(text);
    return null;
  } catch (error) {
    return `allow.net has an invalid entry, because Vis ${reasonOf(error)}`;
  }
}

export function scriptsOf(extension: Extension): Readonly<Record<string, string>> {
  const { namespace, modules = {} } = extension;
  const scripts: Readonly<Record<string, string>> = Reflect.get(extension, REALM_SCRIPTS) ?? {};
  const absent = Object.keys(modules).find((name) => !Object.hasOwn(scripts, name));
  if (absent === undefined) return scripts;
  throw new Error(
    `Cannot register extension ${namespace}: Vis has not read the file of modules.${absent}; load the folder of the ` +
      "extension with env.load",
  );
}
