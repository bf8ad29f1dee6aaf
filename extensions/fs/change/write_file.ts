import { decodeText, type TextFormat } from "@vis/extension";
import { changeFiles } from "./change_files.ts";
import { confineForWrite } from "../workspace/confine.ts";
import type { FsContext } from "../workspace/context.ts";
import { type CurrentFile, currentFile, newBytes } from "./current_file.ts";
import { encodingNamed, isExact, UTF_8 } from "../encoding/text_format.ts";
import { noteFaults } from "./note_faults.ts";
import { knownEncoding } from "../read/read_place.ts";
import { type Written, written } from "./written.ts";

export interface WriteOptions {
  /** Instead of that of the file before, or UTF-8. */
  readonly encoding?: string | undefined;
  /** What ends lines, instead of what ends those of the file before. */
  readonly eol?: "lf" | "crlf" | undefined;
}

const MARK = "\uFEFF";

/** Creates a file and its folders, or replaces its text. What replaces a text is written as that was: in its encoding,
 * with its byte order mark, and with CRLF if all of its lines end so and none of the new ones do. */
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
  const result = await written(context, item, { named: place.path, encoding: format.encoding, encodingBefore });
  await noteFaults(context, [{ ...item, named: place.path, encoding: format.encoding }]);
  return result;
}

/** How the text of the file is written; that of a new one if there is none, or no text in it. */
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
