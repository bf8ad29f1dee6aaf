import { confineForWrite, type WorkspacePath } from "../confine.ts";
import type { FsContext } from "../context.ts";
import { missing } from "../find_files.ts";
import { replaceText, type TextReplacement } from "../patch/replace_text.ts";
import { isOwnText, knownEncoding } from "../read/read_place.ts";
import { encodingNamed, type FileFormat, isExact, UTF_8 } from "../text_format.ts";
import { changeFiles } from "./change_files.ts";
import {
  type CurrentFile,
  currentFile,
  currentText,
  MAX_WRITE,
  newBytes,
  noteFaults,
  type Written,
  written,
} from "./current_file.ts";
import { advised, decodeText, Pace, type TextFormat, withoutAdvice } from "@vis/extension";

export interface FileEdit extends TextReplacement {
  readonly path: string;
}

export interface EditOptions {
  readonly encoding?: string | undefined;
}

const LARGE = 1024 * 1024;

const MAX_EDITS = 1_000, MOST_FAULTS = 5;
const MAX_SUM = 2 * MAX_WRITE;

interface Draft {
  readonly place: WorkspacePath;
  readonly before: CurrentFile;
  readonly format: FileFormat;
  readonly isOwn: boolean;
  text: string;
}

export async function editFiles(
  context: FsContext,
  edits: readonly FileEdit[],
  { encoding }: EditOptions = {},
): Promise<Written[]> {
  if (edits.length > MAX_EDITS) {
    throw advised(
      new RangeError(`Cannot make ${edits.length} edits at once: the limit is ${MAX_EDITS}`),
      "make them in several calls",
    );
  }
  const drafts = new Map<string, Draft>(), faults = new Map<string, Error>();
  const pace = new Pace(context.signal);
  for (const edit of edits) {
    if (pace.due) await pace.rest();
    const place = confineForWrite(context, edit.path);
    if (faults.has(place.real)) continue; // A later edit may need the text of the failed edit.
    try {
      const draft = drafts.get(place.real) ?? await draftOf(context, place, encoding);
      draft.text = await replaceText(draft.text, edit, { path: place.path, signal: context.signal });
      drafts.set(place.real, draft);
    } catch (error) {
      context.signal?.throwIfAborted();
      if (!(error instanceof Error)) throw error;
      if (faults.set(place.real, error).size === MOST_FAULTS) break;
    }
    refuseSum(drafts);
  }
  refuseFaults([...faults.values()]);
  const items = [...drafts.values()].map(({ place, before, isOwn, text, format }) => {
    const bytes = newBytes(text, format, { path: place.path, action: "edit" });
    const { path: named, real: path } = place;
    const { encoding } = format;
    const after = { ...before, bytes };
    return { path, named, before, after, seen: before.seen, encoding, encodingBefore: encoding, isOwn };
  });
  await changeFiles(context, { change: "edit", items });
  const results: Written[] = [];
  for (const item of items) results.push(await written(context, item, item));
  await noteFaults(context, items);
  return results;
}

function refuseFaults(faults: readonly Error[]): void {
  const [first] = faults;
  if (first === undefined) return;
  if (faults.length === 1) throw first;
  const all = new Error(
    `Cannot edit the files: no file changed, because these edits failed\n${faults.map(withoutAdvice).join("\n")}`,
  );
  const advices = faults.map((fault) => (fault as Error & { readonly advice?: string }).advice ?? "");
  const advice = [...new Set(advices)].filter((one) => one !== "").join(", and ");
  throw advice === "" ? all : advised(all, advice);
}

function refuseSum(drafts: ReadonlyMap<string, Draft>): void {
  let sum = 0;
  for (const { text } of drafts.values()) sum += text.length;
  if (sum > MAX_SUM) {
    throw advised(
      new RangeError(`Cannot edit the files: together they have ${sum} characters, and the limit is ${MAX_SUM}`),
      "edit them in several calls",
    );
  }
}

async function draftOf(context: FsContext, place: WorkspacePath, encoding: string | undefined): Promise<Draft> {
  const before = await currentFile(context, place, { action: "edit" });
  if (before === null) throw await missing(context, { action: "edit", path: place.path });
  if (before.bytes.length > LARGE) await new Pace(context.signal).rest();
  const format = currentText(context, before.bytes, { place, action: "edit", encoding });
  return {
    place,
    before,
    format,
    text: format.text,
    isOwn: isOwnText(context, { real: place.real, info: before.seen }),
  };
}

export interface WriteOptions {
  readonly encoding?: string | undefined;
  readonly eol?: "lf" | "crlf" | undefined;
}

const MARK = "\uFEFF";

export async function writeFile(
  context: FsContext,
  { path, text, options = {} }: {
    readonly path: string;
    readonly text: string;
    readonly options?: WriteOptions | undefined;
  },
): Promise<Written> {
  const place = confineForWrite(context, path);
  const before = await currentFile(context, place);
  const encodingBefore = knownEncoding(context, place);
  const isOwn = before === null || isOwnText(context, { real: place.real, info: before.seen });
  const old = formatOf(before, encodingBefore);
  const format = {
    ...old,
    ...formatOfNew(old, options, place.path),
    ...text.startsWith(MARK) ? { hasMark: true } : {},
  };
  const own = text.startsWith(MARK) ? text.slice(1) : text;
  const eol = options.eol ?? (old.hasCrlf && !own.includes("\r") ? "crlf" : undefined);
  const lines = eol === undefined ? own : own.replace(/\r?\n/g, eol === "crlf" ? "\r\n" : "\n");
  const bytes = newBytes(lines, format, { path: place.path, action: "write" });
  const after = { kind: "file", bytes, mode: before?.mode ?? null, owner: before?.owner ?? null } as const;
  const item = { path: place.real, before, after, seen: before?.seen ?? null };
  await changeFiles(context, { change: "writeFile", items: [item] });
  const result = await written(context, item, {
    named: place.path,
    encoding: format.encoding,
    encodingBefore,
    isOwn,
  });
  await noteFaults(context, [{ ...item, named: place.path, encoding: format.encoding }]);
  return result;
}

function formatOf(
  before: CurrentFile | null,
  encodingBefore: string | undefined,
): TextFormat & { readonly hasCrlf: boolean } {
  const old = before === null ? null : decodeText(before.bytes, encodingBefore);
  if (before === null || old === null || !isExact(before.bytes, old)) return { ...UTF_8, hasCrlf: false };
  const { encoding, hasMark, isGuess, text } = old;
  return { encoding, hasMark, isGuess, hasCrlf: text.includes("\r\n") && !/(?:^|[^\r])\n/.test(text) };
}

function formatOfNew(old: TextFormat, { encoding }: WriteOptions, path: string): Partial<TextFormat> {
  if (encoding === undefined) return {};
  const name = encodingNamed(encoding, `Cannot write ${path}`);
  return name === old.encoding ? {} : { encoding: name, hasMark: name.startsWith("utf-16") };
}
