import type { ChangeItem, FileSnapshot } from "../checkpoints.ts";
import type { WorkspacePath } from "../confine.ts";
import type { FsContext } from "../context.ts";
import { diffHead, unifiedDiff } from "../patch/unified_diff.ts";
import {
  INSTEAD,
  isHiddenSecret,
  knownEncoding,
  openFile,
  readWhole,
  rememberFile,
  textOf,
  tooLarge,
} from "../read/read_place.ts";
import { encodeText, type FileFormat, isExact, textWithStrays } from "../text_format.ts";
import { type Facts, sha256Of } from "../tree/tree.ts";
import { advised, type DecodedText, decodeText, reasonOf } from "@vis/extension";

export const MAX_WRITE = 16 * 1024 * 1024;

export interface CurrentFile extends FileSnapshot {
  readonly seen: Facts;
}

/** Rejects if a file that the conversation read or wrote has changed since. For other actions than a write, content
 * that the conversation knew earlier is acceptable. */
export async function currentFile(
  context: FsContext,
  place: WorkspacePath,
  { action = "write", most = MAX_WRITE }: { readonly action?: string; readonly most?: number } = {},
): Promise<CurrentFile | null> {
  if (place.info === null) return null;
  using file = await openFile(context, { place, action, isChange: true });
  const { size, mode, uid, gid, modified } = file.facts;
  const bytes = await readWhole(file, { size, most, signal: context.signal });
  if (bytes === null) {
    throw tooLarge(`Cannot ${action} ${place.path}`, { size, most, by: "the limit is", wayOut: INSTEAD });
  }
  const current: CurrentFile = {
    kind: "file",
    bytes,
    mode,
    owner: { uid, gid },
    attributes: file.attributes(),
    seen: file.facts,
  };
  const known = context.ledger.find(context.conversationId, `${context.root}/${place.real}`);
  if (known === null) return current;
  if (known.lossy && action === "write") {
    throw advised(
      new Error(
        `Cannot write ${place.path}: not all of it is ${known.encoding ?? "UTF-8"}, and you read it with ` +
          "replacement characters",
      ),
      "read it with fs.readFile(path, {encoding}) first",
    );
  }
  const hash = await sha256Of(bytes);
  const same = known.hash === null
    ? known.size === bytes.length && known.mtime === modified
    : await known.hash === hash;
  if (same || action !== "write" && (await Promise.all(known.others)).includes(hash)) return current;
  throw advised(
    new Error(`Cannot ${action} ${place.path}: it changed on disk since you last read or wrote it`),
    "read it again and redo the change",
  );
}

const MAX_REPLACED = 10_000;

export function currentText(
  context: FsContext,
  bytes: Uint8Array,
  { place, action, encoding }: {
    readonly place: Pick<WorkspacePath, "path" | "real">;
    readonly action: string;
    readonly encoding?: string | undefined;
  },
): DecodedText & FileFormat {
  const known = encoding ?? knownEncoding(context, place);
  const decoded = textOf(context, bytes, { place, action, encoding: known });
  if (isExact(bytes, decoded)) return decoded;
  const isUtf8 = decoded.encoding === "utf-8" && decoded.replaced <= MAX_REPLACED;
  const kept = isUtf8 ? textWithStrays(bytes.subarray(decoded.hasMark ? 3 : 0)) : null;
  if (kept !== null) return { ...decoded, ...kept };
  throw advised(
    new Error(
      `Cannot ${action} ${place.path}: Vis cannot write its text back as ${decoded.encoding} without changed bytes`,
    ),
    'read it with fs.readFile(path, {encoding: "windows-1252"}), which keeps each byte',
  );
}

export function newBytes(
  text: string,
  format: FileFormat,
  { path, action }: { readonly path: string; readonly action: string },
): Uint8Array<ArrayBuffer> {
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = encodeText(text, format);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw advised(
      new Error(`Cannot ${action} ${path}: ${reasonOf(error)}`),
      'fs.writeFile(path, text, {encoding: "utf-8"}) ' + "writes the whole file as UTF-8",
    );
  }
  if (bytes.length <= MAX_WRITE) return bytes;
  throw advised(
    new RangeError(`Cannot ${action} ${path}: it would have ${bytes.length} bytes, and the limit is ${MAX_WRITE}`),
    "write several files",
  );
}

export interface Written {
  readonly path: string;
  readonly bytes: number;
  readonly diff: string;
}

export async function written(
  context: FsContext,
  { path, before, after }: ChangeItem,
  { named = path, isOwn = false, ...encodings }: Encodings & { readonly named?: string; readonly isOwn?: boolean } = {},
): Promise<Written> {
  const bytes = after?.kind === "file" ? after.bytes : null;
  const isHidden = !isOwn && await isHiddenSecret(context, { path: named, real: path });
  if (bytes) {
    const info = context.tree.look(path);
    if (info) {
      const lossy = context.ledger.find(context.conversationId, `${context.root}/${path}`)?.lossy ?? false;
      rememberFile(context, { place: { real: path }, bytes, lossy, encoding: encodings.encoding ?? null, info, isOwn });
      if (before?.kind === "file") {
        context.ledger.alsoKnown(context.conversationId, `${context.root}/${path}`, sha256Of(before.bytes));
      }
    }
  }
  return {
    path: named,
    bytes: bytes?.length ?? 0,
    diff: withoutLines(await diffOf({ path, before, after }, encodings), { isHidden }),
  };
}

interface Encodings {
  readonly encoding?: string | undefined;
  readonly encodingBefore?: string | undefined;
}

export async function diffOf(
  { path, before, after }: Pick<ChangeItem, "path" | "before" | "after">,
  { encoding, encodingBefore }: Encodings = {},
): Promise<string> {
  const [from, to] = [before, after].map((one) =>
    one?.kind === "file" && one.mode !== null ? (one.mode & MODE).toString(8) : ""
  );
  if (from && to && from !== to && isSameContent(before, after)) {
    return `${diffHead(path, path)}… the mode changed from ${from} to ${to}\n`;
  }
  const [now, own] = [textIn(after, encoding), textIn(before, encodingBefore)];
  const found = own === undefined ? textIn(before, encoding) : own;
  const [old, next] = found && now ? withoutConflicts(found, now) : [found, now];
  return old === undefined || next === undefined
    ? `Binary file ${path} ${now === null ? "removed" : "replaced"}\n`
    : await unifiedDiff(path, { before: old, after: next });
}

/** The reader of the diff may not see the lines of a hidden file. */
export function withoutLines(diff: string, { isHidden }: { readonly isHidden: boolean }): string {
  const [head = ""] = /^--- .*\n\+\+\+ .*\n/.exec(diff) ?? [];
  if (!isHidden || head === "") return diff;
  const [added, removed] = ["+", "-"].map((sign) => diff.slice(head.length).match(RegExp(`^[${sign}]`, "gm")) ?? []);
  return `${head}… the lines of this secret file are left out, with +${added?.length} −${removed?.length} lines\n`;
}

export function isSameContent(before: ChangeItem["before"], after: ChangeItem["after"]): boolean {
  if (before?.kind !== "file" || after?.kind !== "file" || before.bytes.length !== after.bytes.length) return false;
  return before.bytes.every((byte, at) => byte === after.bytes[at]);
}

const MODE = 0o7777;

const CONFLICTS =
  /^<{7}(?: .*)?\r?\n((?:(?!<{7}|={7}|\|{7}).*\n)*?)(?:\|{7}.*\n(?:(?!={7}).*\n)*?)?={7}\r?\n(?:(?!>{7}).*\n)*?>{7}(?: .*)?(?:\n|$)/gm;

function withoutConflicts(before: string, after: string): readonly [before: string, after: string] {
  const left = new Set(before.match(CONFLICTS));
  if (left.size === 0) return [before, after];
  return [
    before.replace(CONFLICTS, "$1"),
    after.replace(CONFLICTS, (whole: string, own: string) => left.has(whole) ? own : whole),
  ];
}

function textIn(snapshot: ChangeItem["before"], encoding?: string): string | null | undefined {
  if (snapshot === null || snapshot.kind === "dir") return null;
  if (snapshot.kind === "link") return snapshot.target;
  return decodeText(snapshot.bytes, encoding)?.text;
}

const HIDDEN_LINE = "-[not shown]";

/** Vis stores approval questions, so the diff of a secret file shows the text of added lines only. */
export async function shownChange(
  item: Pick<ChangeItem, "path" | "before" | "after">,
  { isSecret }: { readonly isSecret: boolean },
): Promise<string> {
  const path = item.path.replaceAll(/[\r\n]/g, "⏎");
  if (item.after === null) return `--- ${path}\n+++ /dev/null\nthe call removes or moves the file\n`;
  const head = `--- ${item.before === null ? "/dev/null" : path}\n+++ ${path}\n`, note = noteOn(item);
  if (item.after.kind === "link") return `${head}${note}`;
  const whole = await diffOf({ ...item, path }) || (note === "" ? "" : head), diff = isSecret ? hidden(whole) : whole;
  return diff.replace(/^(?:--- .*\n\+\+\+ .*\n|Binary .*\n)/, (found) => `${found}${note}`);
}

/** A diff does not show these facts. */
function noteOn({ before, after }: Pick<ChangeItem, "before" | "after">): string {
  if (after?.kind === "link") return `a link to ${after.target.replaceAll(/[\r\n]/g, "⏎")}\n`;
  const [was, is] = [before, after].map((one) => one?.kind === "file" && ((one.mode ?? 0) & 0o111) !== 0);
  return was === is ? "" : is ? "programs can run the file\n" : "programs can no longer run the file\n";
}

function hidden(diff: string): string {
  const [before = "", after = "", ...lines] = diff.trimEnd().split("\n");
  const shown = [before, after];
  let at = { before: 0, after: 0 }, from = at;
  let run: string[] = [];
  const close = (): void => {
    const [old, now] = [at.before - from.before, at.after - from.after];
    if (run.length > 0) shown.push(`@@ -${from.before},${old} +${from.after},${now} @@`, ...run);
    run = [];
    from = at;
  };
  for (const text of lines) {
    const place = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(text);
    if (text.startsWith("+")) {
      run.push(text);
      at = { ...at, after: at.after + 1 };
    } else if (text.startsWith("-")) {
      run.push(HIDDEN_LINE);
      at = { ...at, before: at.before + 1 };
    } else {
      close();
      if (place) at = { before: Number(place[1]), after: Number(place[2]) };
      else if (text.startsWith(" ")) at = { before: at.before + 1, after: at.after + 1 };
      else if (text.startsWith("…")) shown.push(text);
      from = at;
    }
  }
  close();
  return `${shown.join("\n")}\n`;
}

const MAX_FILES = 20;

interface Changed extends Pick<ChangeItem, "path" | "before" | "after"> {
  readonly named: string;
  readonly encoding?: string | undefined;
}

/** The parser may not support the language of a file, so a fault that the file already had gets no note. */
export async function noteFaults(context: FsContext, items: readonly Changed[]): Promise<void> {
  const { note, sourceFault, signal } = context;
  if (!sourceFault) return;
  for (const { path, named, before, after, encoding } of items.slice(0, MAX_FILES)) {
    signal?.throwIfAborted();
    if (await isHiddenSecret(context, { path: named, real: path })) continue;
    const text = fileText(after, encoding);
    const fault = text === null ? null : await sourceFault(named, text);
    if (text === null || fault === null) continue;
    const old = fileText(before, encoding);
    const known = old === null ? null : await sourceFault(named, old);
    const isSame = known !== null && known.message === fault.message &&
      lineOf(old ?? "", known.line) === lineOf(text, fault.line);
    if (!isSame) note(`${named} was written, but does not parse at line ${fault.line}: ${fault.message}`);
  }
}

function fileText(snapshot: ChangeItem["after"], encoding: string | undefined): string | null {
  return snapshot?.kind === "file" ? decodeText(snapshot.bytes, encoding)?.text ?? null : null;
}

function lineOf(text: string, line: number): string {
  return text.split("\n", line)[line - 1] ?? "";
}
