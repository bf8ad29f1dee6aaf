import { z } from "zod";
import { advised, HostCallError, messageOf, reasonOf as lowerReason } from "../domain/errors.ts";
import { inputFault } from "../domain/input_fault.ts";
import { type Clock, REAL_CLOCK, Semaphore } from "../domain/kit/concurrency.ts";
import { tenantHome } from "../domain/kit/ids.ts";
import { counted, oneLine, shorten, visibleText } from "../domain/kit/text.ts";
import type { ShownOutcome } from "../domain/query/host_call.ts";
import type { Log } from "../logging/log.ts";
import {
  type ActiveExtensions,
  ANSWER_MS,
  answerInTime,
  callView,
  EXTEND_MS,
  type ExtensionFault,
  joinParts,
  type OwnCall,
  type OwnKeys,
  scopeOf,
  TookTooLong,
} from "./active_extensions.ts";
import { type OwnPart, ownPart, promptFor } from "./extension_part.ts";
import { readExtensionConfig, type SettingSources } from "./read_config.ts";
import { shownOutput } from "./shown_output.ts";
import { signatureOf } from "./signatures.ts";
import type {
  Before,
  EnvironmentView,
  Extension,
  FileWatcher,
  FunctionSymbol,
  NamedFile,
  Topic,
  WatchOptions,
} from "./spec.ts";
import { defineExtension, type NormalExtension, scriptsOf } from "./validate.ts";

interface RegistryOptions extends SettingSources {
  readonly log: Log;
  readonly home?: string | null;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly clock?: Pick<Clock, "sleep">;
  readonly load?: (ref: string) => Promise<Extension>;
}

const MAX_NOTE = 2000, MAX_NUDGE = 200;

interface ViewOf {
  readonly env: EnvironmentView;
  readonly own: OwnKeys | undefined;
  readonly faults?: ExtensionFault[] | undefined;
  readonly call?: OwnCall;
}

const NAMED_MS = 5_000;

export class ExtensionRegistry {
  readonly #extensions = new Map<string, NormalExtension>();
  readonly #log: Log;
  readonly #options: RegistryOptions;
  readonly #own = new Map<string, Map<string, NormalExtension>>();
  readonly #configs = new Map<string, unknown>();
  #order: readonly NormalExtension[] | null = null;

  constructor(options: RegistryOptions) {
    this.#log = options.log;
    this.#options = options;
  }

  /** For later queries, the extension replaces another extension of its namespace. */
  register(extension: Extension): void {
    this.#add(extension, this.#extensions);
    this.#order = null;
  }

  registerFor(envId: string, extension: Extension): void {
    const own = new Map(this.#own.get(envId));
    this.#add(extension, own);
    installOrder(this.#allOf(own));
    this.#own.set(envId, own);
  }

  configOf(namespace: string): unknown {
    return this.#configs.get(namespace);
  }

  release(envId: string): void {
    this.#own.delete(envId);
  }

  #add(extension: Extension, to: Map<string, NormalExtension>): void {
    const normal = defineExtension(extension);
    const { namespace } = normal;
    scriptsOf(normal);
    refuseTaken(normal, this.#allOf(to).filter((other) => other.namespace !== namespace));
    this.#configs.set(namespace, readExtensionConfig(normal, this.#options.config?.[namespace], this.#options));
    to.set(namespace, normal);
  }

  #allOf(own: ReadonlyMap<string, NormalExtension>): readonly NormalExtension[] {
    return [...new Map([...this.#extensions, ...own]).values()];
  }

  installOrder(): readonly Extension[] {
    return this.#installed();
  }

  /** If `activate` fails, Vis omits the extension; if `prompt` fails, the extension has no text in the prompt. */
  async activate(env: EnvironmentView, own?: OwnKeys): Promise<ActiveExtensions> {
    const faults: ExtensionFault[] = [];
    await this.#extend({ env, own, faults });
    const asked = await Promise.all(
      this.#installedFor(env.envId).map((extension) => this.#ask(extension, { env, own, faults })),
    );
    return { ...this.#collect(asked.filter((one) => one !== null), { own, faults }), faults: () => faults };
  }

  known(envId: string): readonly { readonly namespace: string; readonly version: string }[] {
    return this.#installedFor(envId).map(({ namespace, version }) => ({ namespace, version }));
  }

  async namedFile(env: EnvironmentView, path: string, options: { readonly chars: number }): Promise<NamedFile | null> {
    const found = this.#installedFor(env.envId).find(({ namedFile }) => namedFile !== undefined);
    if (!found) return null;
    const view = this.#view(found, { env, own: undefined });
    return await this.#answer(() => found.namedFile?.(view, path, options) ?? null, NAMED_MS);
  }

  watchFiles(env: EnvironmentView, options: WatchOptions): FileWatcher | null {
    return this.#watcher({ env, own: undefined }, options);
  }

  #installedFor(envId: string): readonly NormalExtension[] {
    const own = this.#own.get(envId);
    return own ? installOrder(this.#allOf(own)) : this.#installed();
  }

  async #extend({ env, own, faults = [] }: ViewOf): Promise<void> {
    for (const extension of this.#installed()) {
      try {
        const asked = () => extension.extend?.(this.#view(extension, { env, own }));
        for (const one of await this.#answer(asked, EXTEND_MS) ?? []) {
          this.#addQuietly(one, extension, { env, own, faults });
        }
      } catch (error) {
        this.#failed({ namespace: extension.namespace, phase: "extend", error }, { env, own, faults });
      }
    }
  }

  #addQuietly(extension: Extension, { namespace }: NormalExtension, of: ViewOf): void {
    try {
      this.registerFor(of.env.envId, extension);
    } catch (error) {
      this.#failed({ namespace, phase: "register", error }, of);
    }
  }

  #failed(fault: ExtensionFault, { env, faults = [] }: ViewOf): void {
    const { namespace: ext, phase, error } = fault;
    faults.push(fault);
    this.#log.error("extension.failed", { ext, phase, error: messageOf(error), ...scopeOf(env) });
  }

  #installed(): readonly NormalExtension[] {
    this.#order ??= installOrder([...this.#extensions.values()]);
    return this.#order;
  }

  #view({ namespace }: NormalExtension, of: ViewOf): EnvironmentView {
    const { env, own, call, faults } = of;
    const { home, load } = this.#options;
    const config = this.#configs.get(namespace);
    const note = (text: string): void =>
      this.#log.info("extension.note", { ext: namespace, text: String(text).slice(0, MAX_NOTE) });
    const warn = (text: string): void => void faults?.push({ namespace, phase: "warn", error: new Error(text) });
    return callView(env, {
      ...own?.(namespace, call),
      ...(call ? { watchFiles: (options = {}) => this.#watcher(of, options) } : {}),
      ...(call ? { fileRead: (path) => this.#fileRead(path, of) } : {}),
      ...(home === undefined ? {} : { home: tenantHome(home, env.tenant) }),
      ...(config === undefined ? {} : { config }),
      ...(call ? { signal: call.signal } : {}),
      log: note,
      register: (extension) => this.registerFor(env.envId, extension),
      ...(faults ? { warn } : {}),
      ...(load ? { load: async (ref) => this.#loadFor(env.envId, await load(ref)) } : {}),
    });
  }

  #watcher(of: ViewOf, options: WatchOptions): FileWatcher | null {
    const found = this.#installedFor(of.env.envId).find(({ watchFiles }) => watchFiles !== undefined);
    return found?.watchFiles?.(this.#view(found, of), options) ?? null;
  }

  async #fileRead(path: string, of: ViewOf): Promise<void> {
    for (const extension of this.#installedFor(of.env.envId)) {
      try {
        await extension.fileRead?.(this.#view(extension, of), path);
      } catch (error) {
        this.#failed({ namespace: extension.namespace, phase: "fileRead", error }, of);
      }
    }
  }

  #loadFor(envId: string, extension: Extension): Extension {
    const known = this.#extensions.get(extension.namespace) ?? this.#own.get(envId)?.get(extension.namespace);
    if (known === undefined) this.registerFor(envId, extension);
    return known ?? extension;
  }

  async #ask(extension: NormalExtension, of: ViewOf): Promise<OwnPart | null> {
    const { namespace } = extension;
    const view = this.#view(extension, of);
    try {
      if (!(await this.#answer(() => extension.activate(view)))) return null;
    } catch (error) {
      this.#failed({ namespace, phase: "activate", error }, of);
      return null;
    }
    try {
      const prompt = promptFor(extension, view);
      return ownPart(extension, await this.#answer(() => prompt(view)), view);
    } catch (error) {
      this.#failed({ namespace, phase: "prompt", error }, of);
      return ownPart(extension, "", view);
    }
  }

  async #answer<T>(ask: () => T, ms = ANSWER_MS): Promise<Awaited<T>> {
    return await answerInTime(ask, { ms, clock: this.#options.clock ?? REAL_CLOCK });
  }

  #collect(active: readonly OwnPart[], { own, faults }: Omit<ViewOf, "env">): ActiveExtensions {
    const joined = joinParts(
      active.map((part) => ({
        ...part,
        nudges: part.extension.nudge ? [this.#nudgeOf(part.extension, { own, faults })] : [],
        topics: async (env) => [...part.listed, ...await this.#topicsOf(part.extension, { env, own, faults })],
      })),
      async (name, args, options) => {
        const part = active.find(({ symbols }) => symbols.has(name));
        const symbol = part?.symbols.get(name);
        if (symbol?.kind !== "function" || !part) throw unknownFunction(name, active.flatMap((one) => one.functions));
        const { env, signal, told, asks } = options;
        const { extension } = part;
        const refused = (): void => told?.({ text: "refused", ok: false, refusedByUser: true });
        const ended = new AbortController();
        const call = { signal, ended: ended.signal, untimed: symbol.untimed ?? false, refused, asks };
        const view = this.#view(extension, { env, own, faults, call });
        try {
          return await invokeSymbol({
            extension,
            symbol,
            env: view,
            args,
            log: this.#log,
            now: () => performance.now(),
            told,
          });
        } finally {
          ended.abort(new Error(`Cannot continue the program: ${name} has returned`));
        }
      },
    );
    return { ...joined, blocks: grouped(active).flatMap(({ blocks }) => blocks) };
  }

  async #topicsOf(extension: NormalExtension, { env, own, faults = [] }: ViewOf): Promise<readonly Topic[]> {
    try {
      const topics = await this.#answer(() => extension.topics?.(this.#view(extension, { env, own })) ?? []);
      return topics.map(({ name, doc }) => ({ name: String(name), doc: String(doc) }));
    } catch (error) {
      faults.push({ namespace: extension.namespace, phase: "topics", error });
      return [];
    }
  }

  /** A nudge that took too long is not called again, because later steps would wait for it. */
  #nudgeOf(extension: NormalExtension, { own, faults = [] }: Omit<ViewOf, "env">): ActiveExtensions["nudges"][number] {
    const { namespace } = extension;
    let isSlow = false;
    return {
      namespace,
      nudge: async (ctx) => {
        if (isSlow) return null;
        const scope = scopeOf(ctx.environment);
        try {
          const environment = this.#view(extension, { env: ctx.environment, own, faults });
          const said = await this.#answer(async (): Promise<unknown> =>
            await extension.activate(environment) ? await extension.nudge?.({ ...ctx, environment }) : null
          );
          if (typeof said !== "string" || said.trim() === "") return null;
          const line = said.trim().replace(/\s*[\r\n]+\s*/g, " ");
          if (line.length > MAX_NUDGE) {
            this.#log.warn("extension.nudge_cut", { ext: namespace, phase: "nudge", chars: line.length, ...scope });
          }
          return shorten(line, MAX_NUDGE);
        } catch (error) {
          isSlow = error instanceof TookTooLong;
          faults.push({ namespace, phase: "nudge", error });
          this.#log.warn("extension.failed", { ext: namespace, phase: "nudge", error: messageOf(error), ...scope });
          return null;
        }
      },
    };
  }
}

function refuseTaken(
  { namespace, alias: { alias }, modules = {} }: NormalExtension,
  others: readonly NormalExtension[],
) {
  for (const [kind, name] of [["alias", alias], ...Object.keys(modules).map((name) => ["module", name])] as const) {
    const holder = others.find((other) => other.alias.alias === name || Object.hasOwn(other.modules ?? {}, name));
    if (!holder) continue;
    throw new Error(
      `Cannot register extension ${namespace}: its ${kind} ${name} belongs to extension ${holder.namespace}; choose another name`,
    );
  }
}

/** Requirements come first, and the order of other extensions stays. */
export function installOrder(extensions: readonly NormalExtension[]): readonly NormalExtension[] {
  const done = new Set<NormalExtension>();
  for (const extension of extensions) {
    const fault = requirementFault(extension, extensions, done);
    if (fault !== null) throw new Error(`Cannot install extension ${extension.namespace}: ${fault}`);
  }
  return [...done];
}

export function requirementFault(
  extension: NormalExtension,
  all: readonly NormalExtension[],
  done: Set<NormalExtension> = new Set(),
): string | null {
  const known = new Map(all.map((one) => [one.namespace, one]));
  const visit = (one: NormalExtension, chain: readonly string[]): string | null => {
    if (done.has(one)) return null;
    const path = [...chain, one.namespace];
    if (chain.includes(one.namespace)) {
      return `its requirements form the circle ${
        path.slice(path.indexOf(one.namespace)).join(" → ")
      }; remove one of the requirements`;
    }
    for (const name of one.requires) {
      const required = known.get(name);
      if (!required) {
        return `a required extension is not loaded (${[...path, name].join(" → ")}); add ${name} with ` +
          "vis extensions add FOLDER, or enable it in the settings";
      }
      const fault = visit(required, path);
      if (fault !== null) return fault;
    }
    done.add(one);
    return null;
  };
  return visit(extension, []);
}

function grouped<A extends { readonly extension: NormalExtension }>(active: readonly A[]): readonly A[] {
  const groups = Map.groupBy(active, ({ extension }) => extension.group);
  return [...groups.values()].flatMap((group) =>
    [...Map.groupBy(group, ({ extension }) => extension.subgroup).values()].flat()
  );
}

function unknownFunction(name: string, known: readonly string[]): HostCallError {
  const [alias = "", symbol = name] = name.split(".");
  const there = known.filter((one) => one.startsWith(`${alias}.`));
  const hint = there.length > 0 ? `${alias} has ${there.join(", ")}` : "";
  return new HostCallError(`Cannot call ${name}: no active function has this name`, {
    namespace: alias,
    symbol,
    ...(hint ? { hint } : {}),
  });
}

interface Invocation {
  readonly extension: Extension;
  readonly symbol: FunctionSymbol;
  readonly env: EnvironmentView;
  readonly args: readonly unknown[];
  readonly log: Log;
  readonly now: () => number;
  readonly told?: ((outcome: ShownOutcome) => void) | undefined;
}

/** Running calls of all conversations share these bytes. A call that needs more than all of these bytes waits until
 * no other call has a share. */
const ROOM = new Semaphore(160 << 20);

type Call = Parameters<Before>[0];
const MAX_REASON = 500;
const OUTCOME_CHARS = 80;
const FIRST_FAULTS = { abortEarly: true, reportInput: false, error: inputFault };
type HookName = "before" | "after" | "onError";
type Changes = Exclude<ReturnType<Before>, Promise<unknown>>;

const KEYS: Readonly<Record<HookName, string>> = {
  before: "env, fn, args, result",
  after: "env, fn, args, result",
  onError: "env, fn, args, result, error",
};

/** The order is `before`, the check of the arguments, `fn`, `after`; `onError` wraps only `fn`. */
export async function invokeSymbol(invocation: Invocation): Promise<unknown> {
  const { now } = invocation;
  const start = now();
  note(invocation, "debug", { phase: "start" });
  try {
    const result = await pipeline(invocation);
    const ms = since(start, now);
    note(invocation, "debug", { phase: "end", ms });
    const { log, extension, symbol } = invocation;
    tell(invocation, result);
    log.call?.({ ext: extension.namespace, sym: symbol.name, ms, ...scopeOf(invocation.env) });
    return result;
  } catch (error) {
    note(invocation, "warn", { phase: "throw", ms: since(start, now), error: messageOf(error) });
    if (invocation.symbol.tellsFailure) invocation.told?.({ text: "", ok: false, unfinished: true });
    throw asHostCallError(error, invocation);
  }
}

function tell({ symbol, args, told, log, extension, env }: Invocation, result: unknown): void {
  if (!symbol.outcome || !told) return;
  try {
    const said = symbol.outcome(result, args);
    const { text, ok = true, output = "", ...rest } = typeof said === "object" ? said : { text: said };
    const outputs = (Array.isArray(output) ? output : [output]).map(String);
    const shown = { text: oneLine(visibleText(String(text)), OUTCOME_CHARS), output: ok ? "" : shownOutput(outputs) };
    told({ ...rest, ok, ...shown });
  } catch (error) {
    const { namespace: ext } = extension;
    log.warn("extension.failed", { ext, phase: "outcome", error: messageOf(error), ...scopeOf(env) });
  }
}

async function pipeline(invocation: Invocation): Promise<unknown> {
  const { symbol } = invocation;
  let call: Call = { env: invocation.env, fn: symbol.fn, args: invocation.args };
  if (symbol.before) {
    const changes = await runHook("before", invocation, symbol.before, call);
    call = merged(call, changes);
    if (Object.hasOwn(changes, "result")) return changes.result;
  }
  call = await checked(invocation, call);
  const room = typeof symbol.room === "function" ? symbol.room(...call.args) : symbol.room ?? 0;
  const outcome = room === 0
    ? await run(invocation, call)
    : await ROOM.runAmount(room, { work: () => run(invocation, call), signal: invocation.env.signal });
  if (!symbol.after) return outcome.result;
  const changes = await runHook("after", invocation, symbol.after, { ...outcome.call, result: outcome.result });
  return Object.hasOwn(changes, "result") ? changes.result : outcome.result;
}

async function run(invocation: Invocation, call: Call): Promise<{ readonly call: Call; readonly result: unknown }> {
  try {
    return { call, result: await call.fn(call.env, ...call.args) };
  } catch (error) {
    const { onError } = invocation.symbol;
    if (!onError) throw error;
    note(invocation, "warn", { phase: "onError", error: messageOf(error) });
    const changes = await runHook("onError", invocation, onError, { ...call, error });
    if (Object.hasOwn(changes, "result")) return { call: merged(call, changes), result: changes.result };
    if (Object.hasOwn(changes, "error")) throw changes.error;
    if (changes.fn === undefined && changes.args === undefined) throw error;
    const next = merged(call, changes);
    const again = changes.args === undefined ? next : await checked(invocation, next);
    note(invocation, "info", { phase: "retry" });
    return { call: again, result: await again.fn(again.env, ...again.args) };
  }
}

async function runHook<Input extends object>(
  name: HookName,
  invocation: Invocation,
  hook: (input: Input) => unknown,
  input: Input,
): Promise<Changes> {
  const start = invocation.now();
  let changes: unknown;
  try {
    changes = await hook(input);
  } catch (error) {
    if ("error" in input && input.error === error) throw error;
    throw hookError(name, invocation, { why: `failed (${thrownReason(error)})`, cause: error });
  }
  note(invocation, "debug", { phase: name, ms: since(start, invocation.now) });
  if (isChanges(changes)) return changes;
  const isObject = typeof changes === "object" && changes !== null && !Array.isArray(changes);
  const returned = isObject ? "an object whose env, fn or args is of a wrong type" : kindOf(changes);
  throw hookError(name, invocation, {
    why: `returned ${returned}; it must return an object with any of ${KEYS[name]}`,
  });
}

function isChanges(value: unknown): value is Changes {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const { env, fn, args } = value as Readonly<Record<string, unknown>>;
  return (env === undefined || (typeof env === "object" && env !== null)) &&
    (fn === undefined || typeof fn === "function") && (args === undefined || Array.isArray(args));
}

function merged(call: Call, changes: Changes): Call {
  return { env: changes.env ?? call.env, fn: changes.fn ?? call.fn, args: changes.args ?? call.args };
}

async function checked(invocation: Invocation, call: Call): Promise<Call> {
  const { symbol, extension } = invocation;
  const parsed = await symbol.args.safeParseAsync(call.args, FIRST_FAULTS);
  if (parsed.success) return { ...call, args: Array.isArray(parsed.data) ? parsed.data : [parsed.data] };
  const { alias } = extension.alias;
  const reasons = parsed.error.issues.slice(0, 3).map(reasonOf).join(", and ");
  throw advised(
    new HostCallError(`Cannot call ${alias}.${symbol.name}: ${reasons}`, {
      namespace: extension.namespace,
      symbol: symbol.name,
    }),
    `usage: ${signatureOf(alias, symbol)}`,
  );
}

function reasonOf(issue: z.core.$ZodIssue): string {
  const [first, ...deeper] = issue.path;
  if (issue.code === "invalid_union") return unionReason(issue);
  if (issue.code === "too_small" && typeof first !== "number") {
    return `it needs at least ${counted(issue.minimum, "argument")}`;
  }
  if (issue.code === "too_big" && typeof first !== "number") {
    return `it takes at most ${counted(issue.maximum, "argument")}`;
  }
  const message = issue.message.slice(0, MAX_REASON);
  if (typeof first !== "number") return message;
  return `${[`argument ${first + 1}`, ...deeper.map(String)].join(".")} ${message}`;
}

function unionReason({ errors, message, path }: z.core.$ZodIssueInvalidUnion): string {
  const fitting = errors.find(([first]) => first && !(first.code === "invalid_type" && first.path.length === 0))?.[0];
  if (fitting) return reasonOf({ ...fitting, path: [...path, ...fitting.path] });
  return reasonOf({ code: "custom", path: [...path], message, input: undefined });
}

function hookError(
  name: HookName,
  { extension, symbol }: Invocation,
  { why, cause }: { readonly why: string; readonly cause?: unknown },
): HostCallError {
  return new HostCallError(
    `Cannot finish ${extension.alias.alias}.${symbol.name}: its ${name} hook ${why}`,
    { namespace: extension.namespace, symbol: symbol.name },
    { cause },
  );
}

function asHostCallError(error: unknown, { extension, symbol, env }: Invocation): HostCallError {
  if (error instanceof HostCallError) return error;
  const call = `${extension.alias.alias}.${symbol.name}`;
  const facts = { namespace: extension.namespace, symbol: symbol.name };
  if (env.signal?.aborted) {
    return new HostCallError(`Cannot finish ${call}: its block or request ended first`, facts, { cause: error });
  }
  const hint = error instanceof Error && "hint" in error && typeof error.hint === "string" ? { hint: error.hint } : {};
  const advice = error instanceof Error && "advice" in error && typeof error.advice === "string"
    ? { advice: error.advice }
    : {};
  return new HostCallError(thrownText(error) || `Cannot finish ${call}: it threw ${kindOf(error)} without a message`, {
    ...facts,
    ...hint,
    ...advice,
  }, { cause: error });
}

function note(
  { log, extension, symbol, env }: Invocation,
  level: "debug" | "info" | "warn",
  data: { readonly phase: string; readonly ms?: number; readonly error?: string },
): void {
  log[level]("extension.call", { ext: extension.namespace, sym: symbol.name, ...data, ...scopeOf(env) });
}

function thrownText(error: unknown): string {
  return error instanceof Error ? error.message : typeof error === "string" ? error : "";
}

function thrownReason(error: unknown): string {
  return thrownText(error) === "" ? `it threw ${kindOf(error)} without a message` : lowerReason(error);
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (value instanceof Error) return "an error";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function since(start: number, now: () => number): number {
  return Math.round((now() - start) * 1000) / 1000;
}
