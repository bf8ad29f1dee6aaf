import type { PatchHunk, PatchPart } from "./patch_part.ts";

/** Whether there is such a file, which decides between readings of a name. */
export type IsFile = (path: string) => boolean;

const LINK = 0o120000, MODULE = 0o160000;
/** Abbreviations of the object id of an empty file. */
const EMPTY = [
  "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
  "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
];
/** Prefixes of git: by default, and with diff.mnemonicPrefix for the index, the working tree, a commit, an object. */
const PREFIXES = new Set([
  "a/ b/",
  "i/ w/",
  "c/ i/",
  "c/ w/",
  "o/ w/",
  "1/ 2/",
  "b/ a/",
  "w/ i/",
  "i/ c/",
  "w/ c/",
  "w/ o/",
]);
/** In the order in which git prints them, with their values. */
const EXTENDED = {
  "old mode": /^\d{6}$/,
  "new mode": /^\d{6}$/,
  "deleted file mode": /^\d{6}$/,
  "new file mode": /^\d{6}$/,
  "similarity index": /^\d+%$/,
  "dissimilarity index": /^\d+%$/,
  "rename from": /./,
  "rename to": /./,
  "copy from": /./,
  "copy to": /./,
  "index": /^\w+\.\.\w+(?: \d{6})?$/,
};
type Extended = keyof typeof EXTENDED;
const KEYS = Object.keys(EXTENDED);

/** The lines of a patch that say which file its hunks are for. */
export class FileHead {
  readonly #at: number;
  readonly #diff: number | null;
  /** Of the line of `diff --git`; null if the two names differ, or if there is no such line. */
  readonly #git: { readonly name: string; readonly hasPrefix: boolean } | null;
  readonly #values = new Map<Extended, string>();
  #names: { readonly from: string | null; readonly to: string | null } | null = null;

  /** `line` is that of `diff --git`, in the diff of this number; null in a patch without such lines. */
  constructor(at: number, git: { readonly line: string; readonly diff: number } | null) {
    this.#at = at;
    this.#diff = git?.diff ?? null;
    this.#git = git && sameName(git.line.slice("diff --git ".length));
  }

  static isExtended(line: string): boolean {
    return extendedIn(line) !== null;
  }

  /** Whether lines of `---` and `+++` were read. */
  get isNamed(): boolean {
    return this.#names !== null;
  }

  /** For an error. */
  get shown(): string {
    return this.#names?.to ?? this.#names?.from ?? this.#git?.name ?? this.#values.get("rename to") ?? "";
  }

  /** Adds a line such as `rename from`. False if git would not print it here. */
  extend(line: string): boolean {
    const found = extendedIn(line);
    if (found === null || this.#diff === null || this.isNamed) return false;
    const last = Math.max(-1, ...[...this.#values.keys()].map((key) => KEYS.indexOf(key)));
    if (KEYS.indexOf(found.key) <= last) return false;
    this.#values.set(found.key, found.value);
    return true;
  }

  /** Takes the names of the lines `---` and `+++`. */
  name(before: string, after: string, isFile: IsFile): void {
    const [from, to] = [nameIn(before.slice(4)), nameIn(after.slice(4))];
    if (this.#git === null) this.#names = namePair(from, to, isFile);
    else if (!this.#git.hasPrefix) this.#names = { from, to };
    else this.#names = { from: from && withoutFolder(from), to: to && withoutFolder(to) };
  }

  /** What the patch does to the file. Throws Error if lines are missing for that. */
  part(hunks: readonly PatchHunk[]): PatchPart {
    const { from, to, isCopy } = this.#places();
    const mode = this.#mode();
    const isLink = mode === LINK;
    const own = { from, to, hunks, isCopy, diff: this.#diff, isLink, mode: isLink ? null : mode, isWhole: false };
    const [old = "", now = ""] = this.#values.get("index")?.split(" ")[0]?.split("..") ?? [];
    const isMade = /^0+$/.test(old), isGone = /^0+$/.test(now);
    if (isMade && !this.#values.has("new file mode") || isGone && !this.#values.has("deleted file mode")) {
      throw this.#fault(`its line of index is of a ${isMade ? "new" : "deleted"} file, which has no line for its mode`);
    }
    const isWhole = hunks.length > 0 || this.#values.get("index") === undefined ||
      EMPTY.some((id) => id.startsWith(isMade ? now : isGone ? old : "-"));
    if (!isWhole) throw this.#fault("its hunks are missing");
    const isNothing = hunks.length === 0 && from === to && mode === null;
    if (isNothing) throw this.#fault("nothing follows that changes it");
    return own;
  }

  #places(): Pick<PatchPart, "from" | "to" | "isCopy"> {
    const value = (key: Extended): string | undefined => {
      const found = this.#values.get(key);
      return found === undefined ? undefined : nameIn(found, { hasTime: false }) ?? undefined;
    };
    for (const word of ["rename", "copy"] as const) {
      const [from, to] = [value(`${word} from`), value(`${word} to`)];
      if ((from === undefined) !== (to === undefined)) throw this.#fault(`one of its lines of ${word} is missing`);
      if (from !== undefined && to !== undefined) return { from, to, isCopy: word === "copy" };
    }
    if (this.#values.has("similarity index")) throw this.#fault("its lines of rename or copy are missing");
    const { from, to } = this.#names ?? { from: this.#git?.name, to: this.#git?.name };
    if (from === undefined || to === undefined) throw this.#fault("its names differ, and no line says which is which");
    const isMade = this.#values.has("new file mode"), isGone = this.#values.has("deleted file mode");
    if (this.#names !== null && (isMade && from !== null || isGone && to !== null)) {
      throw this.#fault(`it is a ${isMade ? "new" : "deleted"} file, but its names are two`);
    }
    if (from === null && to === null) throw this.#fault("both names are /dev/null");
    return { from: isMade ? null : from, to: isGone ? null : to, isCopy: false };
  }

  #mode(): number | null {
    const read = (key: Extended): number | null => {
      const text = this.#values.get(key);
      return text === undefined ? null : parseInt(text, 8);
    };
    if (this.#values.has("old mode") !== this.#values.has("new mode")) {
      throw this.#fault("one of its two modes is missing");
    }
    const ofIndex = /^\S+ (\d{6})$/.exec(this.#values.get("index") ?? "")?.[1];
    const set = read("new mode") ?? read("new file mode");
    const all = [set, read("old mode"), read("deleted file mode"), ofIndex === undefined ? null : parseInt(ofIndex, 8)];
    if (all.includes(MODULE)) {
      throw new Error(`Cannot apply the patch: ${this.shown} is a submodule, whose commit only git changes`);
    }
    return all.includes(LINK) ? LINK : set;
  }

  #fault(reason: string): Error {
    const name = this.shown === "" ? "" : ` (${this.shown})`;
    return new Error(`Cannot apply the patch: the file of line ${this.#at + 1}${name} is incomplete: ${reason}`);
  }
}

function extendedIn(line: string): { readonly key: Extended; readonly value: string } | null {
  for (const [key, pattern] of Object.entries(EXTENDED)) {
    const value = line.slice(key.length + 1);
    if (line.startsWith(`${key} `) && pattern.test(value) && isExtended(key)) return { key, value };
  }
  return null;
}

function isExtended(key: string): key is Extended {
  return key in EXTENDED;
}

/** The name that both sides of `a/x b/x` have. */
function sameName(line: string): { readonly name: string; readonly hasPrefix: boolean } | null {
  const found = halves(line).map(([left, right]) => {
    if (left === right) return { name: left, hasPrefix: false };
    const [a, b] = [withoutFolder(left), withoutFolder(right)];
    return a !== left && a === b ? { name: a, hasPrefix: true } : null;
  });
  return found.find((one) => one !== null) ?? null;
}

function halves(line: string): readonly (readonly [string, string])[] {
  const [quoted] = /^"(?:[^"\\]|\\.)*"/.exec(line) ?? [];
  if (quoted !== undefined) {
    const rest = line.slice(quoted.length + 1);
    return [[unquoted(quoted), rest.startsWith('"') ? unquoted(rest) : rest]];
  }
  return [...line.matchAll(/ /g)].map(({ index }) => [line.slice(0, index), line.slice(index + 1)]);
}

function withoutFolder(name: string): string {
  return name.replace(/^[^/]*\/(?=.)/, "");
}

/** `a/src/x.ts<TAB>2026-…`, as git quotes it, or null for `/dev/null`. */
function nameIn(text: string, { hasTime = true }: { readonly hasTime?: boolean } = {}): string | null {
  const plain = text.replace(/\r$/, "");
  const end = hasTime ? plain.indexOf("\t") : -1;
  const name = plain.startsWith('"')
    ? unquoted(plain)
    : end >= 0
    ? plain.slice(0, end)
    : hasTime
    ? plain.trimEnd()
    : plain;
  return name === "/dev/null" ? null : name;
}

const ESCAPES: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, "\\": 92 };

/** A name in quotes, in which git writes bytes as `\303`. */
function unquoted(text: string): string {
  const [, inner] = /^"((?:[^"\\]|\\.)*)"/.exec(text) ?? [];
  if (inner === undefined) throw new Error(`Cannot apply the patch: the quotes of the name ${text} do not end`);
  const bytes = [...inner.matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/gsu)].flatMap(([whole, octal, escape, plain]) => {
    if (octal !== undefined) return [parseInt(octal, 8) & 0xff];
    if (plain !== undefined) return [...new TextEncoder().encode(plain)];
    const code = ESCAPES[escape ?? ""];
    if (code === undefined) throw new Error(`Cannot apply the patch: the name ${text} has the unknown escape ${whole}`);
    return [code];
  });
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes));
  } catch {
    throw new Error(`Cannot apply the patch: the name ${text} is not UTF-8`);
  }
}

/** Names without the prefixes that most programs write. */
function namePair(from: string | null, to: string | null, isFile: IsFile) {
  const prefixes = [from, to].map((name) => name?.slice(0, 2) ?? "");
  if (from !== null && to !== null && PREFIXES.has(prefixes.join(" ")) && !(from === to)) {
    return { from: from.slice(2), to: to.slice(2) };
  }
  if (from !== null && from === to && isFile(from)) return { from, to };
  const own = (name: string | null): string | null => {
    const short = name?.replace(/^[ab]\//, "") ?? null;
    return name !== null && short !== null && to === null && !isFile(short) && isFile(name) ? name : short;
  };
  return { from: own(from), to: own(to) };
}
