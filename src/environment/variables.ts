import { BoundedMap } from "../domain/kit/bounded_map.ts";
import { oneLine } from "../domain/kit/text.ts";
import type { BlockResult } from "../domain/query/query_schemas.ts";
import { declaringLine, SYSTEM_VARIABLES, type VariableImage } from "../domain/query/variable.ts";
import type { VariableHead } from "../persistence/store.ts";
import type { RunReport } from "../sandbox/sandbox.ts";
import type { MissingVariable } from "./sandbox_session.ts";

const SYSTEM: ReadonlySet<string> = new Set(SYSTEM_VARIABLES);

type IndexedHead = VariableHead & { readonly changedFile: string | null };

const MAX_TEXTS = 100, MAX_LOOKED = 1_000, MAX_CHANGED = 10_000;
const MAX_COMPARED = 50;

interface FileText {
  readonly at: number;
  readonly state: string;
}

interface CalledFile {
  readonly path: string;
  readonly call: string;
  readonly by: string;
}

interface ReadBy {
  readonly by: string;
  readonly stateOf: (path: string) => string;
}

class FileTexts {
  readonly #texts = new Map<string, ReadonlyMap<string, FileText>>();
  readonly #changed = new BoundedMap<string, number>(MAX_CHANGED);
  #changedBy: CalledFile[] = [];
  #read: (FileText & CalledFile)[] = [];
  #now = 0;

  stored(name: string, files: Readonly<Record<string, string>>): void {
    const at = ++this.#now;
    const texts = Object.entries(files).slice(-MAX_TEXTS).map(([path, state]) => [path, { at, state }] as const);
    this.#texts.set(name, new Map(texts));
  }

  read(paths: readonly string[], { by, stateOf }: ReadBy): void {
    for (const path of paths.slice(-MAX_TEXTS)) {
      this.#read.push({ path, call: by, by: namespaceOf(by), at: ++this.#now, state: stateOf(path) });
    }
    this.#read = this.#read.slice(-MAX_TEXTS);
  }

  changedBy(call: string, paths: readonly string[]): void {
    const by = namespaceOf(call);
    this.#changedBy = [...this.#changedBy, ...paths.map((path) => ({ path, call, by }))].slice(-MAX_TEXTS);
  }

  pathsOf(names: readonly string[]): readonly string[] {
    return [...new Set(names.flatMap((name) => [...this.#texts.get(name)?.keys() ?? []]))].slice(0, MAX_LOOKED);
  }

  looked(states: ReadonlyMap<string, string>): boolean {
    let isOlder = false;
    for (const [name, texts] of this.#texts) {
      const now = [...texts].map(([path, text]) => {
        const is = states.get(path) ?? text.state;
        if (is === text.state || text.at < 0) return [path, text] as const;
        isOlder = true;
        return [path, { ...text, at: -1 }] as const;
      });
      this.#texts.set(name, new Map(now));
    }
    return isOlder;
  }

  changed(path: string): void {
    this.#changed.set(path, ++this.#now);
  }

  blockEnded(): void {
    this.#changedBy = [];
    this.#read = [];
  }

  /** If a block read several files, a text belongs to the file whose path follows the name of the variable in the code.
   * The result of a change is not the text of a file. */
  saved({ name, kind, summary }: VariableImage, { code, madeFrom }: {
    readonly code: string;
    readonly madeFrom: readonly string[];
  }): Readonly<Record<string, string>> | null {
    const files = new Map(madeFrom.flatMap((from) => from === name ? [] : [...this.#texts.get(from) ?? []]));
    const line = declaringLine(code, name), statement = STATEMENT.exec(line)?.[0] ?? "";
    const ofIt = <One extends CalledFile>(all: readonly One[]) => all.filter(({ by }) => madeFrom.includes(by));
    const isNamed = (all: readonly CalledFile[]): boolean => all.some(({ call }) => statement.includes(`${call}(`));
    const changed = ofIt(this.#changedBy);
    for (const { path } of changed) files.delete(path);
    const all = ofIt(this.#read), read = isNamed(changed) && !isNamed(all) ? [] : all;
    const isOne = summary.type === "string" && read.length > 1;
    for (const { path, at, state } of isOne ? firstNamed(read, line, name) : read) {
      files.set(path, { at, state });
    }
    this.#texts.delete(name);
    if (kind !== "data" || summary.size === null || files.size === 0) return null;
    const kept = [...files].slice(-MAX_TEXTS);
    this.#texts.set(name, new Map(kept));
    // A changed file gets the state "", so that later processes see the change.
    return Object.fromEntries(kept.map(([path, text]) => [path, this.#isOlder(path, text) ? "" : text.state]));
  }

  get older(): readonly { readonly name: string; readonly path: string }[] {
    return [...this.#texts].flatMap(([name, texts]) => {
      const [[path, text] = ["", null], ...others] = texts;
      return text && others.length === 0 && this.#isOlder(path, text) ? [{ name, path }] : [];
    }).slice(0, MAX_COMPARED);
  }

  equal(name: string, path: string, state: string): void {
    this.#texts.set(name, new Map([[path, { at: ++this.#now, state }]]));
  }

  changedSince(name: string): string | null {
    for (const [path, text] of this.#texts.get(name) ?? []) if (this.#isOlder(path, text)) return path;
    return null;
  }

  #isOlder(path: string, { at }: FileText): boolean {
    return (this.#changed.get(path) ?? 0) > at;
  }
}

function namespaceOf(name: string): string {
  return name.split(".")[0] ?? name;
}

/** Lines that begin with white space or a closing bracket count as parts of the statement above them. */
const STATEMENT = /^.*(?:\n[ \t)\]}].*)*/;

const WORDS = /[\p{ID_Start}$_][\p{ID_Continue}$]*/gu;

function firstNamed<T extends { readonly path: string }>(read: readonly T[], code: string, name: string): readonly T[] {
  const begin = code.matchAll(WORDS).find(([word]) => word === name)?.index ?? 0;
  const placeOf = ({ path }: T): number => code.indexOf(path, begin) >>> 0;
  const first = read.toSorted((one, other) => placeOf(one) - placeOf(other)).find(({ path }) =>
    code.includes(path, begin)
  );
  return first ? [first] : [];
}

export class VariableIndex {
  readonly #heads = new Map<string, VariableHead>();
  readonly #now: () => number;
  #revision = 0;
  readonly #texts = new FileTexts();
  #rendered: { readonly revision: number; readonly text: string } | null = null;

  /** `heads` must be newest first. */
  constructor(heads: readonly VariableHead[], now: () => number) {
    this.#now = now;
    this.replace(heads);
  }

  replace(heads: readonly VariableHead[]): void {
    this.#heads.clear();
    for (const head of heads.toReversed()) {
      this.#heads.set(head.name, head);
      if (head.files) this.#texts.stored(head.name, head.files);
    }
    this.#revision++;
  }

  bump(): void {
    this.#revision++;
  }

  get facts(): { readonly index: string; readonly revision: number; readonly currentRevision: number } {
    const { revision = 0, text: index = "" } = this.#rendered ?? {};
    return Object.freeze({ index, revision, currentRevision: this.#revision });
  }

  get revision(): number {
    return this.#revision;
  }

  all(): readonly VariableHead[] {
    return [...this.#heads.values()].toReversed();
  }

  filesRead(paths: readonly string[], read: ReadBy): void {
    this.#texts.read(paths, read);
  }

  filesChangedBy(name: string, paths: readonly string[]): void {
    this.#texts.changedBy(name, paths);
  }

  get files(): readonly string[] {
    return this.#texts.pathsOf(this.all().flatMap(({ name, scope }) => scope === "live" ? [name] : []));
  }

  filesLooked(states: ReadonlyMap<string, string>): void {
    if (this.#texts.looked(states)) this.#revision++;
  }

  get olderTexts(): readonly { readonly name: string; readonly path: string; readonly head: VariableHead }[] {
    return this.#texts.older.flatMap(({ name, path }) => {
      const head = this.#heads.get(name);
      return head?.scope === "live" && head.kind === "data" && head.summary.type === "string"
        ? [{ name, path, head }]
        : [];
    });
  }

  equalsFile(name: string, path: string, state: string): void {
    this.#texts.equal(name, path, state);
    this.#revision++;
  }

  blockEnded(): void {
    this.#texts.blockEnded();
  }

  fileChanged(path: string): void {
    this.#texts.changed(path);
    this.#revision++;
  }

  get(name: string): VariableHead | undefined {
    return this.#heads.get(name);
  }

  userCount(): number {
    let count = 0;
    for (const head of this.#heads.values()) if (head.scope === "live") count++;
    return count;
  }

  saved(image: VariableImage, code: string, madeFrom: readonly string[] = []): VariableImage {
    const before = this.#heads.get(image.name);
    const found = this.#texts.saved(image, { code, madeFrom });
    if (image.files) this.#texts.stored(image.name, image.files);
    this.#put({
      name: image.name,
      kind: image.kind,
      versions: (before?.versions ?? 0) + 1,
      scope: "live",
      summary: image.summary,
      reason: image.reason,
      code,
      createdAt: this.#now(),
    });
    return found === null ? image : { ...image, files: found };
  }

  system(name: string, text: string): void {
    if (!SYSTEM.has(name)) throw new RangeError(`Cannot set ${name}: it is not a system variable`);
    const summary = {
      declaration: "const",
      type: "string",
      size: text.length,
      shape: `string(${text.length})`,
      inline: null,
      doc: "",
    };
    const versions = (this.#heads.get(name)?.versions ?? 0) + 1;
    this.#put({
      name,
      kind: "data",
      versions,
      scope: "system",
      summary,
      reason: "",
      code: "",
      createdAt: this.#now(),
    });
  }

  setScope(name: string, scope: "live" | "forgotten"): void {
    const head = this.#heads.get(name);
    if (head && head.scope !== "system" && head.scope !== scope) this.#put({ ...head, scope });
  }

  lost(name: string, reason: string): void {
    const head = this.#heads.get(name);
    if (head?.scope !== "live") return;
    this.#put({ ...head, kind: "lost", reason: head.kind === "lost" && head.reason !== "" ? head.reason : reason });
  }

  rendered(render: (heads: readonly IndexedHead[]) => string): string {
    if (this.#rendered?.revision !== this.#revision) {
      const heads = this.all().map((head) => ({ ...head, changedFile: this.#texts.changedSince(head.name) }));
      this.#rendered = { revision: this.#revision, text: render(heads) };
    }
    return this.#rendered.text;
  }

  #put(head: VariableHead): void {
    this.#heads.delete(head.name);
    this.#heads.set(head.name, head);
    this.#revision++;
  }
}

/** Also follows functions and classes that the code uses. Code with `globalThis` may use all names. */
export function namesOf(
  code: string,
  { names, index }: { readonly names: ReadonlySet<string>; readonly index: VariableIndex },
): string[] {
  if (names.size === 0) return [];
  const words = new Set<string>();
  const texts = [code];
  const functions = new Map(
    index.all().filter(({ kind }) => kind === "function" || kind === "class").map((head) => [head.name, head.code]),
  );
  for (let at = 0; at < texts.length; at++) {
    for (const word of texts[at]?.match(WORDS) ?? []) {
      if (words.has(word)) continue;
      words.add(word);
      const source = functions.get(word);
      if (source !== undefined) texts.push(source);
    }
  }
  if (words.has("globalThis")) return [...names];
  return [...names].filter((name) => words.has(name));
}

export function missingNames({ lost }: BlockResult, index: VariableIndex): string[] {
  return lost.filter((name) => {
    const head = index.get(name);
    return head?.scope !== "live" || head.kind === "lost";
  });
}

interface RestoredImage {
  readonly image: VariableImage;
  readonly older: boolean;
}

export interface ScopesNow {
  readonly forgotten: readonly string[];
  readonly live: readonly string[];
}

/** One transaction stores these changes with their iteration, so an unstored iteration changes no scope. */
export class ScopeChanges {
  readonly #index: VariableIndex;
  readonly #forgotten = new Set<string>();
  readonly #live = new Set<string>();
  readonly #restored = new Map<string, RestoredImage & { readonly forgotten: boolean }>();

  constructor(index: VariableIndex) {
    this.#index = index;
  }

  get forgotten(): ReadonlySet<string> {
    return this.#forgotten;
  }

  get now(): ScopesNow {
    return { forgotten: [...this.#forgotten], live: [...this.#live] };
  }

  forget(name: string): void {
    this.#restored.delete(name);
    this.#live.delete(name);
    this.#forgotten.add(name);
    this.#index.setScope(name, "forgotten");
  }

  defined(name: string): void {
    this.#forgotten.delete(name);
  }

  restore(name: string, restored: RestoredImage): void {
    this.#restored.set(name, { ...restored, forgotten: this.#index.get(name)?.scope === "forgotten" });
    this.#index.setScope(name, "live");
  }

  takeRestored({ saved, result }: RunReport): readonly RestoredImage[] {
    const killed = result.outcome === "killed" || result.outcome === "memory";
    const again: RestoredImage[] = [];
    for (const [name, restored] of this.#restored) {
      if (killed) {
        if (restored.forgotten) this.#index.setScope(name, "forgotten");
        continue;
      }
      this.#forgotten.delete(name);
      this.#live.add(name);
      if (!saved.some((image) => image.name === name)) again.push(restored);
    }
    this.#restored.clear();
    return again;
  }

  /** The caller must have stored these changes. Later changes remain. */
  stored({ forgotten, live }: ScopesNow): void {
    for (const name of forgotten) this.#forgotten.delete(name);
    for (const name of live) this.#live.delete(name);
  }

  clear(): void {
    this.#forgotten.clear();
    this.#live.clear();
  }
}

const MAX_STATEMENT = 120;

export class MissingVariableNotes {
  readonly #notes: string[] = [];
  readonly #reported = new Set<string>();

  add(lost: readonly MissingVariable[], codeOf: (name: string) => string): void {
    for (const one of lost) {
      if (this.#reported.has(one.name)) continue;
      this.#reported.add(one.name);
      const { name, reason, statement } = one;
      this.#notes.push(notRestored({ name, reason, code: statement || declaringLine(codeOf(name), name) }));
    }
  }

  defined(name: string): void {
    this.#reported.delete(name);
  }

  take(): readonly string[] {
    return this.#notes.splice(0);
  }
}

export function notRestored(
  { name, reason, code }: { readonly name: string; readonly reason: string; readonly code: string },
): string {
  const line = oneLine(code, MAX_STATEMENT);
  return `Cannot restore ${name}: ${reason}${line === "" ? "" : `; to make it again, run ${line}`}`;
}
