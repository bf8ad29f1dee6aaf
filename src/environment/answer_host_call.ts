import { advised, HostCallError, messageOf } from "../domain/errors.ts";
import { readable, readableHead } from "../domain/kit/json.ts";
import { foundByWords, Handbook, type Section } from "../domain/handbook.ts";
import { joinBytes } from "../domain/kit/bytes.ts";
import { type Clock, REAL_CLOCK } from "../domain/kit/concurrency.ts";
import { nearestNames } from "../domain/kit/names.ts";
import { clip, oneLine, terminalText } from "../domain/kit/text.ts";
import {
  aboutSubject,
  type CallAction,
  calledAction,
  type CallOrigin,
  type HostCallEvent,
  type ShownOutcome,
} from "../domain/query/host_call.ts";
import type { AnswerType, Confidence } from "../domain/query/query_schemas.ts";
import { SYSTEM_VARIABLES } from "../domain/query/variable.ts";
import { changedPaths } from "../domain/query/work_summary.ts";
import { type ActiveExtensions, type OffPart, offReason } from "../extension/active_extensions.ts";
import type { EnvironmentView, Topic } from "../extension/spec.ts";
import type { Branch, Store } from "../persistence/store.ts";
import type { HostCall } from "../sandbox/sandbox.ts";
import type { QueryScope } from "./environment_parts.ts";
import { conversationCode, conversationHistory, varDiff, varHistory } from "./conversation_history.ts";
import type { VariableIndex } from "./variables.ts";

export async function answerCall(
  call: HostCall,
  { scope, stored, source, active, view, filesRead, filesChanged }: {
    readonly scope: QueryScope | null;
    readonly stored: Promise<unknown> | null;
    readonly source: BuiltinSource;
    readonly active: ActiveExtensions | null;
    readonly view: (signal: AbortSignal) => EnvironmentView;
    readonly filesRead: (paths: readonly string[]) => void;
    readonly filesChanged: (paths: readonly string[]) => void;
  },
): Promise<unknown> {
  if (!scope) throw new Error(`Cannot call ${call.name}: no request is running`);
  const { block, iteration, name, args, signal } = call;
  const of = (): CallOrigin => ({ iteration, isLate: call.isLate() });
  const begun = performance.now();
  const builtin = BUILTIN_NAMES.includes(name);
  const does = active?.actions[name]?.(args) ?? undefined;
  const action = builtin ? {} : { action: calledAction(does ?? unnamed(name), args) };
  const limit = does?.limitMs === undefined ? {} : { limitMs: does.limitMs };
  scope.onCall({ block, name, phase: "start", ...action, ...limit }, of());
  const diffs: string[] = [];
  const changedFile = (diff: string): void => {
    diffs.push(diff);
    scope.onChange?.(diff);
  };
  const { onOutput } = scope;
  const printed = new CallOutput((output) => onOutput?.({ block, output }, of()));
  const viewed = (): EnvironmentView =>
    Object.create(view(signal), {
      changedFile: { value: changedFile, enumerable: true },
      showOutput: { value: printed.add, enumerable: true },
    });
  const questions = new CallQuestions();
  let ended: Pick<HostCallEvent, "ok" | "changes" | "diffs"> = { ok: false };
  let said: ShownOutcome = { text: "" };
  const told = (outcome: ShownOutcome): void => void (said = outcome);
  const changes = (): Pick<HostCallEvent, "changes"> =>
    mayChange(call, active, scope) ? { changes: diffs.length > 0 ? "files" : "other" } : {};
  try {
    if (scope.onlyReads && !builtin) refuseChange(call, active);
    if (stored) await stored;
    const result = builtin
      ? await callBuiltin(call, { source, scope })
      : await called(active, name)?.call(name, args, { env: viewed(), signal, told, asks: questions.ask });
    filesChanged(diffs.flatMap(changedPaths));
    if (does?.done === "read" && does.things.endsWith("files")) filesRead(pathsRead(result, args));
    ended = { ok: said.ok ?? true, ...changes(), ...diffsIn(diffs) };
    return result;
  } catch (error) {
    if (scope.signal.aborted && questions.unanswered) said = { text: "refused", refusedByUser: true };
    else if (scope.signal.aborted || signal.aborted) {
      said = { text: scope.signal.aborted ? "cancelled" : "ended with its block", output: printed.end() };
      ended = { ok: false, ...changes() };
    } else if (said.text === "") said = { ...said, output: oneLine(messageOf(error), REASON_CHARS) };
    throw error;
  } finally {
    printed.end();
    const { diffs: _of, ok = false, ...rest } = { ...ended, ...about(action, said) };
    const facts = { ok, ...rest };
    call.told?.(facts);
    scope.onCall({ block, name, phase: "end", ms: performance.now() - begun - questions.ms, ...facts, ...ended }, of());
  }
}

class CallQuestions {
  #open = 0;
  #since = 0;
  ms = 0;
  unanswered = false;

  readonly ask = async <Answer>(question: () => Promise<Answer>): Promise<Answer> => {
    if (this.#open++ === 0) this.#since = performance.now();
    try {
      return await question();
    } catch (error) {
      this.unanswered = true;
      throw error;
    } finally {
      if (--this.#open === 0) this.ms += performance.now() - this.#since;
    }
  };
}

function pathsRead(result: unknown, [first]: readonly unknown[]): readonly string[] {
  const named = (Array.isArray(result) ? result : [result]).flatMap((one: unknown) => {
    const path: unknown = typeof one === "object" && one !== null ? Reflect.get(one, "path") : undefined;
    return typeof path === "string" ? [path] : [];
  });
  return named.length === 0 && typeof first === "string" ? [first] : named;
}

function about(
  { action }: Pick<HostCallEvent, "action">,
  { text, refusedByUser = false, output = "", hint = "", kept = "", exitCode, subject, unfinished, partOf }:
    ShownOutcome,
): Pick<
  HostCallEvent,
  "action" | "outcome" | "refusedByUser" | "output" | "hint" | "kept" | "exitCode" | "unfinished" | "partOf"
> {
  const named = action && subject !== undefined ? aboutSubject(action, subject) : action;
  return {
    ...named ? { action: named } : {},
    ...text === "" ? {} : { outcome: text },
    ...refusedByUser ? { refusedByUser } : {},
    ...output === "" ? {} : { output },
    ...hint === "" ? {} : { hint },
    ...kept === "" ? {} : { kept },
    ...exitCode === undefined ? {} : { exitCode },
    ...unfinished === undefined ? {} : { unfinished },
    ...partOf === undefined ? {} : { partOf },
  };
}

const SHOWN_FROM_MS = 1_000;
const BETWEEN_MS = 200;
const REASON_CHARS = 400;
const TAIL_BYTES = 4_096, TAIL_LINES = 5, LINE_CHARS = 200;
const CUT_LINES = 20;

export class CallOutput {
  readonly #send: (output: string) => void;
  readonly #clock: Clock;
  readonly #over = new AbortController();
  #tail = new Uint8Array();
  #due: number;
  #waiting = false;

  constructor(send: (output: string) => void, clock: Clock = REAL_CLOCK) {
    this.#send = send;
    this.#clock = clock;
    this.#due = clock.now() + SHOWN_FROM_MS;
  }

  readonly add = (bytes: Uint8Array<ArrayBuffer>): void => {
    const newest = bytes.subarray(-TAIL_BYTES);
    this.#tail = joinBytes([this.#tail.subarray(Math.max(0, this.#tail.length + newest.length - TAIL_BYTES)), newest]);
    if (this.#waiting) return;
    this.#waiting = true;
    this.#clock.sleep(Math.max(0, this.#due - this.#clock.now()), this.#over.signal).then(() => {
      this.#waiting = false;
      this.#due = this.#clock.now() + BETWEEN_MS;
      this.#send(lastLines(this.#tail, TAIL_LINES, withoutDetails));
    }, () => {});
  };

  end(): string {
    this.#over.abort();
    const lines = lastLines(this.#tail, CUT_LINES + 1).split("\n");
    const isCut = lines.length > CUT_LINES || this.#tail.length === TAIL_BYTES;
    return [...isCut ? ["…"] : [], ...lines.slice(-CUT_LINES)].join("\n");
  }
}

function lastLines(
  tail: Uint8Array,
  count: number,
  shown = (lines: readonly string[]): readonly string[] => lines,
): string {
  const from = tail.findIndex((byte) => (byte & 0xc0) !== 0x80); // The tail may begin inside a character.
  const text = terminalText(new TextDecoder().decode(tail.subarray(from), { stream: true }));
  return shown(text.trimEnd().split("\n")).slice(-count).map((line) => clip(line, LINE_CHARS)).join("\n");
}

const TEST = /^\s*(?:not )?ok \d+\b/, SUBTEST = /^\s*# Subtest: /;
const DETAILS = /^\s+---$/, DETAILS_END = /^\s+\.\.\.$/;

/** In the output of the test runner of Node.js, a comment precedes the line of a test, and lines of YAML follow. */
function withoutDetails(lines: readonly string[]): readonly string[] {
  if (!lines.some((line) => TEST.test(line))) return lines;
  const edge = lines.find((line) => DETAILS.test(line) || DETAILS_END.test(line)) ?? "";
  let isDetail = DETAILS_END.test(edge);
  return lines.filter((line, at) => {
    if (DETAILS.test(line) && TEST.test(lines[at - 1] ?? "")) isDetail = true;
    const isShown = !isDetail && !(SUBTEST.test(line) && at < lines.length - 1);
    if (DETAILS_END.test(line)) isDetail = false;
    return isShown;
  });
}

function mayChange(
  { name, args }: HostCall,
  active: ActiveExtensions | null,
  { onlyReads = false }: Pick<QueryScope, "onlyReads">,
): boolean {
  return CHANGING.includes(name) ||
    active !== null && active.functions.includes(name) && !active.reads(name, args, { onlyReads });
}

function refuseChange({ name, args }: HostCall, active: ActiveExtensions | null): void {
  if (active === null || active.reads(name, args, { onlyReads: true }) || !active.functions.includes(name)) return;
  const [namespace = "", symbol = ""] = name.split(".");
  throw new HostCallError(`Cannot call ${name}: this request only reads`, {
    namespace,
    symbol,
    hint:
      "a plan, a review and a /btw question change nothing; describe the change in the answer, so that the user's next request can make it",
  });
}

function unnamed(name: string): CallAction {
  return { doing: `calling ${name}`, done: `called ${name}`, things: "times", named: 0 };
}

function called(active: ActiveExtensions | null, name: string): ActiveExtensions | null {
  const reason = offReason(name, active?.off ?? []);
  if (reason === null) return active;
  const [namespace = "", symbol = ""] = name.split(".");
  throw new HostCallError(`Cannot call ${name}: ${reason}`, { namespace, symbol });
}

const MAX_DIFFS = 20;
const MAX_CHARS = 16 * 1024;
const MAX_NAMES = 64 * 1024;

export function diffsIn(diffs: readonly string[]): { readonly diffs?: readonly string[] } {
  const found: string[] = [];
  let [left, names] = [MAX_CHARS, MAX_NAMES];
  for (const [at, diff] of diffs.entries()) {
    if (at < MAX_DIFFS && left > 0) {
      found.push(diff.length > left ? `${diff.slice(0, diff.lastIndexOf("\n", left) + 1 || left)}…\n` : diff);
      left -= diff.length;
      continue;
    }
    const name = /^--- .*\n\+\+\+ .*\n/.exec(diff)?.[0] ?? diff.slice(0, diff.indexOf("\n") + 1);
    names -= name.length;
    if (names < 0) break;
    found.push(`${name}…\n`);
  }
  return found.length > 0 ? { diffs: found } : {};
}

export async function callBuiltin(
  call: HostCall,
  { source, scope }: { readonly source: BuiltinSource; readonly scope: QueryScope },
): Promise<unknown> {
  const builtin = Object.hasOwn(BUILTINS, call.name) ? BUILTINS[call.name] : undefined;
  if (!builtin) {
    throw refused(
      call.name,
      `Cannot call ${call.name}: no function has this name`,
      'doc("words") finds functions by words',
    );
  }
  return await builtin.run(call, source, scope);
}

export interface BuiltinSource {
  readonly vars: () => unknown;
  readonly varHistory: (name: string) => Promise<unknown>;
  readonly varDiff: (name: string, versions: { readonly from: number; readonly to: number }) => Promise<unknown>;
  readonly restoreVar: (name: string, version: number | null) => Promise<unknown>;
  readonly forget: (names: readonly string[]) => Promise<unknown>;
  readonly conversationHistory: (count: number) => Promise<unknown>;
  readonly conversationCode: (query: string | null) => Promise<unknown>;
  readonly doc: (name: string) => string | null;
  readonly topics: () => Promise<readonly Topic[]>;
  readonly extensions: () => { readonly functions: readonly string[]; readonly off: readonly OffPart[] };
}

interface Builtin {
  readonly signature: string;
  readonly run: (call: HostCall, source: BuiltinSource, scope: QueryScope) => unknown;
}

const BUILTINS: Readonly<Record<string, Builtin>> = {
  requestMoreIterations: {
    signature: "requestMoreIterations(n: number): Promise<{granted: number, budget: number}>",
    run: (call, _source, scope) => scope.requestMore(count(call)),
  },
  answer: {
    signature: 'answer(value, options?: {type?: "text"|"markdown", confidence?: "high"|"medium"|"low"}): Promise<void>',
    run: answer,
  },
  vars: {
    signature: "vars(): Promise<Array<{name, kind, type, size, versions, scope, doc}>>",
    run: (_, s) => s.vars(),
  },
  varHistory: {
    signature: "varHistory(name: string): Promise<Array<{version, value, code, createdAt}>>",
    run: (call, source) => source.varHistory(text(call)),
  },
  varDiff: {
    signature: "varDiff(name: string, version1: number, version2: number): Promise<string>",
    run: (call, source) => source.varDiff(text(call), { from: integer(call, 1), to: integer(call, 2) }),
  },
  restoreVar: {
    signature: "restoreVar(name: string, version?: number): Promise<{name, version}>",
    run: (call, source) => source.restoreVar(text(call), call.args[1] === undefined ? null : integer(call, 1)),
  },
  forget: {
    signature: "forget(...names: string[]): Promise<{forgotten: string[]}>",
    run: (call, source) => source.forget(call.args.flat().map((_, at, all) => name(all[at]))),
  },
  conversationHistory: {
    signature:
      "conversationHistory(n?: number): Promise<Array<{queryId, request, answer, status, iterations, createdAt}>>",
    run: (call, source) => source.conversationHistory(call.args[0] === undefined ? Infinity : integer(call, 0)),
  },
  conversationCode: {
    signature: "conversationCode(queryId?: string): Promise<Array<{iteration, code, ok, preview}>>",
    run: (call, source) => source.conversationCode(call.args[0] === undefined ? null : text(call)),
  },
  doc: { signature: "doc(f or words, …up to 8): Promise<string>", run: doc },
};

const REALM_DOCS: Readonly<Record<string, string>> = {
  print:
    "print(...values): void\nPrints a line: the journal shows it, printed[i] has all of it. console.log does the same.",
  console: "console.log(...values), .info, .warn, .error, .table …: void\nPrints as print does.",
  shape: "shape(value): string\nThe structure of a value in short: keys, types, lengths. Not a promise.",
  results: "results: unknown[]\nresults[i] is the value of row [i + 1] of the last journal.",
  printed: "printed: string[]\nprinted[i] is the output of row [i + 1] of the last journal.",
  vis: "vis: {answer, vars, …, ext}\nThe originals of names that you redeclared: vis.answer, vis.ext.NAME.",
};

const CHANGING: readonly string[] = ["restoreVar", "forget"];

export const BUILTIN_NAMES: readonly string[] = Object.keys(BUILTINS);

const ALWAYS = ["console", "print", "printed", "results", "shape", "vis"];

export function initialNames(active: ActiveExtensions | null): ReadonlySet<string> {
  const { functions = [], constants = {}, modules = {}, globals = [], off = [] } = active ?? {};
  const roots = [...functions, ...off.map(({ alias }) => alias), ...Object.keys(constants), ...globals].map((name) =>
    name.split(".")[0] ?? name
  );
  return new Set([...SYSTEM_VARIABLES, ...ALWAYS, ...BUILTIN_NAMES, ...roots, ...Object.keys(modules)]);
}

const CONFIDENCES = ["high", "medium", "low"] as const;

function answer(call: HostCall, _source: BuiltinSource, scope: QueryScope): void {
  if (call.args[0] === undefined) {
    throw refused("answer", "Cannot answer: the value is undefined", "pass a value: answer(value)");
  }
  const options = call.args[1];
  const read = (key: string): unknown =>
    typeof options === "object" && options !== null ? Object.getOwnPropertyDescriptor(options, key)?.value : undefined;
  // The text of data is JSON, whose indentation Markdown would remove.
  const isData = typeof call.args[0] === "object" && read("type") !== "markdown";
  const type: AnswerType = read("type") === "text" || isData ? "text" : "markdown";
  const chosen = read("confidence");
  const confidence: Confidence = CONFIDENCES.find((one) => one === chosen) ?? null;
  scope.answer(readable(call.args[0]), { type, confidence, block: call.block, value: call.args[0] });
}

async function doc(call: HostCall, source: BuiltinSource): Promise<string> {
  const { length } = call.args;
  if (length > MAX_DOCS) {
    throw refused("doc", `Cannot describe ${length} functions in one call: the limit is ${MAX_DOCS}`, "call doc again");
  }
  const asked = [text(call), ...call.args.slice(1).map((_, at) => text(call, at + 1))];
  const found = await Promise.all(asked.map((one) => described(one, source)));
  return found.join("\n\n");
}

async function described(asked: string, source: BuiltinSource): Promise<string> {
  const builtin = Object.hasOwn(BUILTINS, asked) ? BUILTINS[asked]?.signature : undefined;
  const { functions, off } = source.extensions();
  const found = builtin ?? (Object.hasOwn(REALM_DOCS, asked) ? REALM_DOCS[asked] : undefined) ?? source.doc(asked) ??
    moduleDoc(asked, { functions, source });
  if (found) return found;
  const reason = offReason(asked, off);
  if (reason !== null) throw refused("doc", `Cannot describe ${oneLine(asked, MAX_ASKED)}: ${reason}`);
  const isMember = functions.some((one) => asked.startsWith(one.slice(0, one.indexOf(".") + 1)));
  if (!isMember) {
    const handbook = await Handbook.open();
    const page = handbook.at(asked);
    if (page !== null) return bounded(page, ASKED_CHARS);
    const found = listed(asked, [...BUILTIN_TOPICS, ...await source.topics()], handbook.sections);
    if (found !== "") return `Nothing is called ${oneLine(asked, MAX_ASKED)}. Found by its words:\n${found}`;
  }
  const aliases = functions.map((one) => one.split(".")[0] ?? one);
  const near = nearestNames(asked, [
    ...new Set([...BUILTIN_NAMES, ...Object.keys(REALM_DOCS), ...aliases, ...functions]),
  ]);
  const cannot = `Cannot describe ${oneLine(asked, MAX_ASKED)}: the sandbox has no such function`;
  if (near.length > 0) {
    throw refused("doc", `${cannot}; the nearest ${near.length === 1 ? "is" : "are"} ${near.join(", ")}`);
  }
  throw refused("doc", cannot, "search with other words");
}

const BUILTIN_TOPICS: readonly Topic[] = [
  ...Object.entries(BUILTINS).map(([name, { signature }]) => ({ name, doc: signature })),
  ...Object.entries(REALM_DOCS).map(([name, doc]) => ({ name, doc })),
];
const MAX_DOCS = 8, MAX_ASKED = 80, MAX_LISTED = 10, MAX_SECTIONS = 4, MAX_LINE = 160;
const FOUND_CHARS = 1_500, ASKED_CHARS = 8_000;

function listed(asked: string, topics: readonly Topic[], sections: readonly Section[]): string {
  const all = foundByWords<Topic | Section>(asked, [...topics, ...sections]);
  const crowd = new Set<Topic>(all.filter((one) => "place" in one).slice(MAX_SECTIONS));
  const found = all.filter((one) => !crowd.has(one)).slice(0, MAX_LISTED);
  const lines = found.map((one) =>
    oneLine("place" in one ? `doc("${one.place}"): ${one.name}` : `${one.name}: ${one.doc}`, MAX_LINE)
  );
  const [best] = found;
  const text = best && "place" in best ? `\n\n${best.place}:\n${bounded(best.doc, FOUND_CHARS)}` : "";
  return `${lines.join("\n")}${text}`;
}

function bounded(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const end = text.lastIndexOf("\n", chars);
  return `${text.slice(0, end > 0 ? end : chars)}\n… ${text.length - Math.max(end, 0)} more characters`;
}

function moduleDoc(
  asked: string,
  { functions, source }: { readonly functions: readonly string[]; readonly source: BuiltinSource },
): string | null {
  const [head = ""] = asked.split(".");
  return functions.some((name) => name.startsWith(`${head}.`)) ? null : source.doc(head);
}

function refused(symbol: string, message: string, advice = ""): HostCallError {
  const error = new HostCallError(message, { namespace: "vis", symbol });
  return advice === "" ? error : advised(error, advice);
}

function signatureOf(call: HostCall): string {
  return BUILTINS[call.name]?.signature ?? call.name;
}

function text(call: HostCall, at = 0): string {
  const value = call.args[at];
  if (typeof value === "string" && value.length > 0) return value;
  throw refused(
    call.name,
    `Cannot call ${call.name}: argument ${at + 1} is ${shown(value)}, and must be text that is not empty`,
    `usage: ${signatureOf(call)}`,
  );
}

function name(value: unknown): string {
  if (typeof value === "string") return value;
  throw refused(
    "forget",
    `Cannot forget variables: the name ${shown(value)} is not text`,
    'usage: forget("rows", "tmp")',
  );
}

function shown(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(clip(value, 40)) : readableHead(value, 40);
}

function integer(call: HostCall, at: number): number {
  const value = call.args[at];
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  throw refused(
    call.name,
    `Cannot call ${call.name}: argument ${at + 1} is ${shown(value)}, and must be a whole number`,
    `usage: ${signatureOf(call)}`,
  );
}

function count(call: HostCall): number {
  const n = integer(call, 0);
  if (n >= 1) return n;
  throw refused(call.name, `Cannot request ${n} steps: the number must be at least 1`);
}

export function builtinSource(
  environment: {
    readonly index: VariableIndex;
    readonly store: Store;
    readonly branch: Branch;
    forget(names: readonly string[]): Promise<unknown>;
  },
  { restoreVar, active, view }: Pick<BuiltinSource, "restoreVar"> & {
    readonly active: () => Pick<ActiveExtensions, "doc" | "functions" | "off" | "topics"> | null;
    readonly view: () => EnvironmentView;
  },
): BuiltinSource {
  const at = () => ({ branchId: environment.branch.branchId });
  return {
    restoreVar,
    doc: (name) => active()?.doc(name) ?? null,
    topics: async () => await active()?.topics?.(view()) ?? [],
    extensions: () => ({ functions: active()?.functions ?? [], off: active()?.off ?? [] }),
    vars: () =>
      environment.index.all().map(({ name, kind, versions, scope, summary }) => {
        const { type, size, doc } = summary;
        return { name, kind, type, size, versions, scope, doc };
      }),
    varHistory: (name) => varHistory(environment.store, { ...at(), name }),
    varDiff: async (name, versions) => (await varDiff(environment.store, { ...at(), name, ...versions })).text,
    forget: (names) => environment.forget(names),
    conversationHistory: (count) => conversationHistory(environment.store, { ...at(), count }),
    conversationCode: (queryId) => conversationCode(environment.store, { ...at(), queryId }),
  };
}
