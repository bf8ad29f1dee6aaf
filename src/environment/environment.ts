import { statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { relative, resolve } from "node:path";

import { Cancelled, HostCallError, SandboxEnded, withoutAdvice } from "../domain/errors.ts";
import { BoundedMap } from "../domain/kit/bounded_map.ts";
import { isWithin, plainTextFile } from "../domain/kit/files.ts";
import { newId } from "../domain/kit/ids.ts";
import { counted, oneLine, shorten } from "../domain/kit/text.ts";
import { withAdvice } from "../domain/query/host_call.ts";
import { SYSTEM_VARIABLES, type VariableImage } from "../domain/query/variable.ts";
import type { ActiveExtensions, ExtensionFault } from "../extension/active_extensions.ts";
import { blockHint, type Habits, plainHint } from "../extension/habitual_calls.ts";
import type { EnvironmentView, FileWatcher, NamedFile } from "../extension/spec.ts";
import type { Log } from "../logging/log.ts";
import type { Branch, Store, VariableHead } from "../persistence/store.ts";
import type {
  BlockRun,
  FailedModule,
  HostCall,
  RenderOptions,
  RenderReport,
  RunReport,
  Sandbox,
  SandboxOptions,
  Walls,
} from "../sandbox/sandbox.ts";
import { answerCall, BUILTIN_NAMES, builtinSource, initialNames } from "./answer_host_call.ts";
import type { EnvironmentParts, QueryScope } from "./environment_parts.ts";
import { BoundVariables, ConversationPrograms, EnvironmentViews } from "./environment_for_extensions.ts";
import { findVersion, valueOf } from "./conversation_history.ts";
import { type InputVariable, InputVariables, isNamedFiles, namedFilesVariable } from "./input_variables.ts";
import { namedFiles, type NamedRoom } from "./named_files.ts";
import { type MissingVariable, SandboxSession, storedRows } from "./sandbox_session.ts";
import {
  missingNames,
  MissingVariableNotes,
  namesOf,
  notRestored,
  ScopeChanges,
  type ScopesNow,
  VariableIndex,
} from "./variables.ts";

const MAX_COMPARED_BYTES = 1 << 20, MAX_KNOWN = 1_000;

function notAttached(
  path: string,
  error: unknown,
  { workspace, root = workspace, readFolders }: EnvironmentView,
): string {
  const said = `@${oneLine(path, 200)} is not attached`, isOfHome = path.startsWith("~/");
  const full = isOfHome ? path : resolve(workspace, path);
  const isOutside = isOfHome
    ? error instanceof RangeError
    : [root, ...readFolders ?? []].every((one) => !isWithin(full, one));
  if (!isOutside) {
    return `${said}: ${error instanceof Error ? withoutAdvice(error) : "there is no such file or folder"}`;
  }
  const way = readFolders === undefined ? "" : "; vis --add-dir FOLDER lets Vis read another folder";
  return `${said}: it is outside the workspace${way}`;
}

export class Environment {
  readonly envId = newId();
  readonly branch: Branch;
  readonly store: Store;
  readonly index: VariableIndex;
  readonly views: EnvironmentViews;
  readonly given = new InputVariables();
  readonly programs = new ConversationPrograms();
  readonly #compared = new BoundedMap<string, string>(MAX_KNOWN);
  /** If false, Vis could neither store nor undo a change, so the state may differ from the stored state. */
  sound = true;
  readonly depth: number;
  readonly #parts: EnvironmentParts;
  readonly #session: SandboxSession;
  readonly #system = new Map<string, string>();
  #stored: Promise<unknown> | null = null;
  readonly #scopes: ScopeChanges;
  readonly #lost = new MissingVariableNotes();
  readonly #called = new CallNotes();
  readonly #unattached = new Set<string>();
  readonly #modules: RealmModules;
  #running = false;
  #iterationId: string | null = null;
  #active: ActiveExtensions | null = null;
  #boundTo = "";
  #scope: QueryScope | null = null;

  protected constructor(parts: EnvironmentParts, index: VariableIndex) {
    this.#parts = parts;
    this.branch = parts.branch;
    this.depth = parts.depth ?? 0;
    this.store = parts.store;
    this.index = index;
    this.#scopes = new ScopeChanges(index);
    this.#modules = new RealmModules(parts.log, parts.branch.conversationId);
    this.#session = new SandboxSession({
      open: (signal) => this.#openSandbox(signal),
      stored: () => parts.store.liveImages(parts.branch.branchId),
      rows: () => storedRows(parts.store, parts.branch.branchId),
      system: () => this.#system,
      onLost: (lost) => this.#lose(lost),
      pieces: (large) => parts.store.largePieces(large),
      named: (code, names) => namesOf(code, { names, index }),
    });
    const variables = new BoundVariables({
      index,
      session: this.#session,
      scopes: this.#scopes,
      given: this.given,
      stored: (name) => this.#newest(name),
      running: () => this.#running,
      initialNames: () => initialNames(this.#active),
    });
    const now = () => ({ scope: this.#scope, iterationId: this.#iterationId, active: this.#active });
    const note = (text: string): void => this.#called.add(text);
    this.views = new EnvironmentViews({
      envId: this.envId,
      parts,
      index,
      programs: this.programs,
      variables,
      note,
      now,
    });
  }

  static async open(parts: EnvironmentParts): Promise<Environment> {
    const heads = await parts.store.variables(parts.branch.branchId);
    const environment = new Environment(parts, new VariableIndex(heads, parts.now));
    for (const [name, text] of await storedSystem(parts, heads)) environment.#system.set(name, text);
    return environment;
  }

  async beginQuery(scope: QueryScope): Promise<ActiveExtensions> {
    this.#scope = scope;
    const active = await this.#parts.registry.activate(this.view(), this.views.own);
    const bound = boundText(active);
    if (bound !== this.#boundTo) await this.#session.stop();
    this.#boundTo = bound;
    this.#active = active;
    await this.#lookAtFiles();
    // If the start fails, the error appears when a block needs the sandbox.
    if (this.#parts.mayStartEarly?.() ?? true) this.#session.ready().catch(() => {});
    return active;
  }

  get alive(): boolean {
    return this.#session.living !== null;
  }

  get used(): boolean {
    return this.#session.used !== null;
  }

  async rest(): Promise<void> {
    if (this.#scope === null) await this.#session.stop();
  }

  async endQuery({ unstored = false }: { readonly unstored?: boolean } = {}): Promise<void> {
    this.#scope = null;
    this.#iterationId = null;
    this.programs.endQuery();
    this.#unattached.clear();
    if (unstored) await this.#undo();
    this.given.end();
    await this.#session.endQuery();
  }

  get iterationId(): string | null {
    return this.#iterationId;
  }

  async begin(request: string, input: readonly InputVariable[]): Promise<void> {
    const files = await this.namedFiles(request);
    const others = input.filter(({ image }) => !isNamedFiles(image));
    const given = files.length === 0 ? others : [...others, namedFilesVariable(files)];
    if (given.length > 0) await this.give(given);
  }

  async namedFiles(text: string, room?: NamedRoom): Promise<readonly NamedFile[]> {
    const { registry } = this.#parts;
    const read = async (path: string, options: { readonly chars: number }): Promise<NamedFile | null> =>
      await registry.namedFile(this.view(), path, options) ?? null;
    const onMissed = (path: string, error: unknown) => void this.#unattached.add(notAttached(path, error, this.view()));
    return await namedFiles(text, { read, room, onMissed });
  }

  get unattached(): readonly string[] {
    return [...this.#unattached];
  }

  /** Resolves with the paths that do not exist, or with none if no extension reads files. A path for which the
   * extension rejects, such as a binary file, counts as existing. */
  async missing(paths: readonly string[]): Promise<readonly string[]> {
    const { registry } = this.#parts;
    const has = async (path: string): Promise<boolean> =>
      await registry.namedFile(this.view(), path, { chars: 0 }).then((found) => found !== null, () => true);
    if (paths.length === 0 || !await has(".")) return [];
    const missing: string[] = [];
    for (const path of paths) if (!await has(path)) missing.push(path);
    return missing;
  }

  /** When the promise resolves, a running child has the variables, except large texts. */
  async give(given: readonly InputVariable[]): Promise<void> {
    await this.#session.give(given.map(({ image }) => image));
    for (const { image } of given) this.index.saved(image, "");
    this.given.begin(given);
  }

  /** The caller must have stored the row of the iteration with the input variables. */
  iterationBegun(iterationId: string): void {
    this.#iterationId = iterationId;
    this.given.stored();
  }

  async fork(names: readonly string[]): Promise<Fork> {
    return await forkVariables(names, {
      index: this.index,
      present: async (name) => await this.#session.living?.present(name) ?? null,
      stored: async (name) => this.#session.unsaved(name) ?? await this.#newest(name),
    });
  }

  async #newest(name: string): Promise<VariableImage | null> {
    const [newest] = await this.store.variableVersions(this.branch.branchId, name, { newest: 1 });
    return newest?.image ?? null;
  }

  view(signal?: AbortSignal): EnvironmentView {
    return this.views.view(signal);
  }

  /** The changes of the hook belong to this query and to its current iteration, even if the hook ends later. */
  watchHook(queryId: string): FileWatcher | null {
    const scope = this.#scope;
    const view: EnvironmentView = Object.create(this.view(), {
      userQueryId: { value: queryId, enumerable: true },
      currentIterationId: { value: this.#iterationId, enumerable: true },
      changedFile: { value: (diff: string) => scope?.onChange?.(diff), enumerable: true },
    });
    return this.#parts.registry.watchFiles?.(view, { isHook: true }) ?? null;
  }

  get active(): Pick<ActiveExtensions, "list" | "grants" | "recorders"> | null {
    return this.#active;
  }

  get extensionFaults(): readonly ExtensionFault[] {
    return this.#active?.faults?.() ?? [];
  }

  get walls(): Walls | null {
    return this.#session.living?.walls ?? null;
  }

  /** Host calls of the block wait for `stored`, so that an outside effect has a row that records it. */
  async run(block: BlockRun, { stored }: { readonly stored?: Promise<unknown> } = {}): Promise<RunReport> {
    this.#stored = stored ?? null;
    this.#running = true;
    const report = this.#hinted(block, await this.#session.run(block).finally(() => this.#running = false));
    const restored = this.#scopes.takeRestored(report);
    this.#session.remember(restored.map(({ image }) => image));
    const images = [...report.saved, ...restored.flatMap(({ image, older }) => older ? [image] : [])];
    const saved = images.map((image) => {
      this.#lost.defined(image.name);
      this.#scopes.defined(image.name);
      return this.index.saved(
        image,
        block.code,
        report.madeFrom === null ? report.reads : report.madeFrom.get(image.name),
      );
    });
    this.index.blockEnded();
    if (restored.length > 0) await this.#lookAtFiles();
    const equal = await this.#compareTexts(new Map(saved.map((image) => [image.name, image])));
    const lost = this.alive ? report.result.lost : missingNames(report.result, this.index);
    for (const name of lost) this.index.lost(name, "Vis could not keep its value");
    const compared = saved.map((image) => {
      const files = equal.get(image.name);
      return files === undefined ? image : { ...image, files };
    });
    return this.#told(block, { ...report, result: { ...report.result, lost }, saved: compared });
  }

  get habits(): Habits {
    return this.#active?.habits ?? {};
  }

  #hinted({ code: source }: BlockRun, report: RunReport): RunReport {
    const { result } = report, { error } = result;
    const hint = error ? blockHint(this.habits, { ...error, source }) : "";
    if (!error || hint === "") return report;
    return { ...report, result: { ...result, error: withAdvice(error, hint) } };
  }

  #told({ code }: BlockRun, report: RunReport): RunReport {
    const { result, notes } = report, { error } = result;
    const isUndefined = result.preview === "undefined" || result.stdout.includes("undefined");
    if (error ? error.name !== "TypeError" : !isUndefined) return report;
    const typeOf = (name: string) => {
      const type = this.index.get(name)?.summary.type;
      return type === "string" ? "string" : type === "Array" ? "list" : null;
    };
    const hint = plainHint(code, { results: this.#active?.plain ?? {}, typeOf });
    if (hint === "") return report;
    if (!error) return { ...report, notes: [...notes, hint] };
    return { ...report, result: { ...result, error: withAdvice(error, hint) } };
  }

  async render(text: string, options: RenderOptions): Promise<RenderReport> {
    if (!this.index.get(text.trim()) && !text.includes("{{")) return { ok: true, from: "literal", text };
    try {
      return await this.#session.use(text, async (sandbox, failed) => {
        return failed === null ? await sandbox.render(text, options) : { ok: false, reason: failed };
      });
    } catch (error) {
      if (!(error instanceof SandboxEnded)) throw error;
      return { ok: false, reason: `Cannot resolve the answer: the sandbox ended (${error.why})` };
    }
  }

  async readVariable(name: string, options: { readonly maxBytes: number }): Promise<unknown> {
    return await this.#session.use(name, (sandbox) => sandbox.read(name, options));
  }

  bindSystem(name: string, text: string): void {
    this.#system.set(name, text);
    this.index.system(name, text);
    this.#session.living?.bind(name, text).catch(() => {});
  }

  /** The caller must store `scopes` with the new versions, and then call `done`. */
  storing(): { readonly scopes: ScopesNow; done(): void } {
    const [images, scopes] = [this.#session.unsavedNow, this.#scopes.now];
    const done = (): void => {
      this.#session.stored(images);
      this.#scopes.stored(scopes);
    };
    return { scopes, done };
  }

  readonly takeNotes = (): readonly string[] => [
    ...this.#modules.take(),
    ...this.#lost.take(),
    ...this.#called.take(),
    ...this.programs.take(),
  ];

  async close(): Promise<void> {
    this.#parts.registry.release?.(this.envId);
    await Promise.all([this.#session.close(), this.programs.close()]);
  }

  async #openSandbox(signal: AbortSignal): Promise<Sandbox> {
    // A call that outlives its query must not start a child.
    if (this.#scope === null) throw new Cancelled("Cannot use the sandbox: no request is running");
    return await this.#parts.openSandbox({
      ...realmParts(this.#active),
      ...this.#modules.options(this.#active),
      workspace: this.branch.workspace,
      onCall: (call) => this.#call(call),
      signal,
    });
  }

  #call(call: HostCall): Promise<unknown> {
    const view = (signal: AbortSignal) => this.view(signal);
    const source = this.#builtins, { workspace } = this.branch;
    const filesRead = (paths: readonly string[]): void => {
      const named = paths.map((path) => this.#fromWorkspace(path));
      const stateOf = (path: string): string => {
        try {
          return fileState(statSync(resolve(workspace, path)));
        } catch {
          return GONE;
        }
      };
      this.index.filesRead(named, { by: call.name, stateOf });
    };
    return answerCall(call, {
      ...{ scope: this.#scope, stored: this.#stored, source, active: this.#active, view, filesRead },
      filesChanged: (paths) => this.index.filesChangedBy(call.name, paths.map((path) => this.#fromWorkspace(path))),
    });
  }

  /** A path in an added folder may be absolute. */
  fileChanged(path: string): void {
    this.index.fileChanged(this.#fromWorkspace(path));
  }

  #fromWorkspace(path: string): string {
    const { workspace } = this.branch;
    return relative(workspace, resolve(workspace, path));
  }

  readonly #builtins = builtinSource(this, {
    restoreVar: (name, version) => this.#restoreVar(name, version),
    active: () => this.#active,
    view: () => this.view(),
  });

  async forget(names: readonly string[]): Promise<{ forgotten: string[] }> {
    const known = names.filter((name) => this.index.get(name)?.scope === "live");
    await this.#session.forget(known);
    for (const name of known) this.#scopes.forget(name);
    return { forgotten: known };
  }

  async #restoreVar(name: string, version: number | null): Promise<{ name: string; version: number }> {
    const versions = await this.store.variableVersions(this.branch.branchId, name);
    const found = findVersion(versions, { name, version, symbol: "restoreVar" });
    const [report] = await this.#session.restore(found.image);
    if (report?.how === "lost") {
      throw new Error(
        notRestored({ name, reason: report.reason, code: found.image.kind === "lost" ? found.image.source : "" }),
      );
    }
    const older = found !== versions.at(-1) || this.#session.unsaved(name) !== null;
    this.#scopes.restore(name, { image: found.image, older });
    return { name, version: found.version };
  }

  async #lookAtFiles(): Promise<void> {
    const { workspace } = this.branch;
    const states = this.index.files.map(async (path) => {
      return [path, await stat(resolve(workspace, path)).then(fileState, () => GONE)] as const;
    });
    this.index.filesLooked(new Map(await Promise.all(states)));
    await this.#compareTexts();
  }

  async #compareTexts(
    fresh: ReadonlyMap<string, VariableImage> = new Map(),
  ): Promise<ReadonlyMap<string, Readonly<Record<string, string>>>> {
    const { workspace, branchId } = this.branch;
    const equal = new Map<string, Readonly<Record<string, string>>>();
    for (const { name, path, head } of this.index.olderTexts) {
      const file = resolve(workspace, path);
      const found = await stat(file).catch(() => null);
      if (!found?.isFile() || found.size > MAX_COMPARED_BYTES || found.size < (head.summary.size ?? Infinity)) continue;
      const state = fileState(found);
      if (this.#compared.get(name) === `${head.versions} ${state}`) continue;
      this.#compared.set(name, `${head.versions} ${state}`);
      const image = fresh.get(name) ?? this.#session.unsaved(name) ??
        (await this.store.variableVersions(branchId, name, { newest: 1 })).at(-1)?.image;
      const text = image?.kind === "data" && image.bytes.length <= 2 * MAX_COMPARED_BYTES ? valueOf(image) : null;
      if (typeof text !== "string") continue;
      const now = await plainTextFile(file, { most: MAX_COMPARED_BYTES, exact: true }).catch(() => null);
      if (now !== text) continue;
      this.index.equalsFile(name, path, state);
      equal.set(name, { [path]: state });
    }
    return equal;
  }

  async #undo(): Promise<void> {
    this.sound = false;
    await this.#session.reset();
    this.#scopes.clear();
    this.index.replace(await this.store.variables(this.branch.branchId));
    await this.give(this.given.unstored);
    await this.#lookAtFiles();
    this.sound = true;
  }

  #lose(lost: readonly MissingVariable[]): void {
    for (const { name, reason } of lost) this.index.lost(name, reason);
    this.#lost.add(lost, (name) => this.index.get(name)?.code ?? "");
    const { conversationId } = this.branch;
    this.#parts.log.warn("variables_lost", { conversationId, names: lost.map(({ name }) => name) });
  }
}

async function storedSystem(
  { store, branch: { branchId } }: Pick<EnvironmentParts, "store" | "branch">,
  heads: readonly VariableHead[],
): Promise<ReadonlyMap<string, string>> {
  const names = ["$reasoning", "$answer"].filter((name) => heads.some((head) => head.name === name));
  return new Map(
    await Promise.all(names.map(async (name) => {
      const versions = await store.variableVersions(branchId, name, { newest: 1 });
      return [name, versions.at(-1)?.image.source ?? ""] as const;
    })),
  );
}

const MAX_NOTES = 20;
const MAX_CHARS = 3_000;

class CallNotes {
  #texts = new Set<string>();
  #left = 0;

  add(text: string): void {
    const short = shorten(text, MAX_CHARS);
    if (this.#texts.size < MAX_NOTES) this.#texts.add(short);
    else if (!this.#texts.has(short)) this.#left++;
  }

  take(): readonly string[] {
    const [texts, left] = [[...this.#texts], this.#left];
    [this.#texts, this.#left] = [new Set(), 0];
    return left === 0 ? texts : [...texts, `Vis omits ${counted(left, "more note")} of calls`];
  }
}

function realmParts(
  active: ActiveExtensions | null,
): Pick<SandboxOptions, "functions" | "untimed" | "misnamed" | "constants" | "grants" | "granted" | "globals"> {
  return {
    functions: [...BUILTIN_NAMES, ...active?.functions ?? [], ...offFunctions(active)],
    untimed: active?.untimed ?? [],
    misnamed: active?.misnamed ?? {},
    constants: active?.constants ?? {},
    grants: active?.grants ?? { net: [], read: [], write: [], env: [] },
    granted: active?.granted ?? [],
    globals: active?.globals ?? [],
  };
}

/** If a function is off, the error of its call explains how to switch the extension on, so the realm needs these
 * functions. */
function offFunctions(active: ActiveExtensions | null): readonly string[] {
  return (active?.off ?? []).flatMap(({ functions }) => functions);
}

/** A child has these parts from its start, so a changed text requires a new child. */
export function boundText(active: ActiveExtensions): string {
  const { functions, untimed, misnamed, grants, globals, constants, modules, off } = active;
  return JSON.stringify(
    [off, functions, untimed, misnamed, grants, globals, constants, modules],
    (_key, value: unknown) => {
      if (typeof value === "bigint") return `${value}n`;
      return value instanceof Map || value instanceof Set ? [...value] : value;
    },
  );
}

class RealmModules {
  readonly #log: Log;
  readonly #conversationId: string;
  /** These scripts ended a child, so Vis gives them to no other child. */
  readonly #fatal = new Set<string>();
  readonly #reported = new Set<string>();
  readonly #notes: string[] = [];

  constructor(log: Log, conversationId: string) {
    this.#log = log;
    this.#conversationId = conversationId;
  }

  options(active: ActiveExtensions | null): Pick<SandboxOptions, "modules" | "onModuleFailed"> {
    const scripts = active?.modules ?? {};
    return {
      modules: Object.fromEntries(Object.entries(scripts).filter(([, script]) => !this.#fatal.has(script))),
      onModuleFailed: (failed) => this.#failed(failed, scripts[failed.name] ?? ""),
    };
  }

  take(): readonly string[] {
    return this.#notes.splice(0);
  }

  #failed({ name, reason, ended }: FailedModule, script: string): void {
    if (ended) this.#fatal.add(script);
    if (this.#reported.has(script)) return;
    this.#reported.add(script);
    this.#log.warn("module_failed", { conversationId: this.#conversationId, module: name, error: reason });
    this.#notes.push(`Vis could not load module ${name}, so ${name} is not defined: ${reason}`);
  }
}

interface Fork {
  readonly images: readonly VariableImage[];
  readonly copies: readonly string[];
}

export interface ForkSource {
  readonly index: VariableIndex;
  /** Resolves with null if no child runs, and for a value that the child need not send. */
  readonly present: (name: string) => Promise<VariableImage | null>;
  readonly stored: (name: string) => Promise<VariableImage | null>;
}

const SYSTEM: readonly string[] = SYSTEM_VARIABLES;

const GONE = "gone";

function fileState({ mtimeMs, size }: { readonly mtimeMs: number; readonly size: number }): string {
  return `${mtimeMs}:${size}`;
}

export async function forkVariables(names: readonly string[], source: ForkSource): Promise<Fork> {
  const images = new Map<string, VariableImage>();
  const copies = new Set<string>();
  const asked = new Set(names), wanted = [...asked];
  for (let at = 0; at < wanted.length; at++) {
    const name = wanted[at] ?? "";
    if (images.has(name) || copies.has(name)) continue;
    if (SYSTEM.includes(name)) throw refused(name, "a sub-query has its own variable of this name");
    const image = await source.present(name) ?? (source.index.get(name) ? await source.stored(name) : null);
    if (!image && !asked.has(name)) continue;
    if (!image) throw refused(name, "no variable has this name", "declare it at the top level of a block");
    if (image.kind === "lost" || image.kind === "pending") {
      throw refused(name, image.reason || "its value is not stored");
    }
    if (image.large !== undefined) copies.add(name);
    else images.set(name, image);
    wanted.push(...image.requires);
  }
  return { images: [...images.values()], copies: [...copies] };
}

function refused(name: string, why: string, hint = ""): HostCallError {
  const message = `Cannot hand ${name} to a sub-query: ${why}`;
  return new HostCallError(message, { namespace: "vis", symbol: "runChild", ...hint === "" ? {} : { hint } });
}
