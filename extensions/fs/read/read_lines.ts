import { advised, counted, Pace } from "@vis/extension";
import { confine } from "../confine.ts";
import type { FsContext } from "../context.ts";
import { openFile, textOf } from "./read_place.ts";

export interface ReadLinesOptions {
  readonly at?: number | undefined;
  readonly count?: number | undefined;
  readonly encoding?: string | undefined;
}

interface LinePiece {
  readonly lines: readonly string[];
  readonly next: number | null;
}

const DEFAULT_LINES = 10_000;
const ENOUGH_BYTES = 4 << 20;
const MAX_LINE_BYTES = 16 << 20;
const CHUNK = 256 * 1024;
const LINE_FEED = 10;
const HEAD = 64 * 1024;

export async function readLines(
  context: FsContext,
  path: string,
  { at = 0, count = DEFAULT_LINES, encoding }: ReadLinesOptions = {},
): Promise<LinePiece> {
  const place = confine(context, path);
  using file = await openFile(context, { place, action: "read" });
  const { size } = file.facts;
  if (at > size) {
    throw advised(
      new RangeError(`Cannot read ${place.path} from byte ${at}: the file has ${counted(size, "byte")}`),
      "begin at an earlier byte",
    );
  }
  const head = new Uint8Array(Math.min(size, HEAD));
  const of = { place, action: "read", encoding, size };
  const { encoding: own } = textOf({ ...context, note: () => {} }, head.subarray(0, file.read(head)), of);
  const feed = own === "utf-16le" ? [LINE_FEED, 0] : own === "utf-16be" ? [0, LINE_FEED] : [LINE_FEED];
  file.seek(at);
  const pace = new Pace(context.signal);
  let bytes = new Uint8Array(CHUNK);
  let [used, end, lines] = [0, 0, 0];
  for (let more = true; more && lines < count && end < ENOUGH_BYTES;) {
    if (pace.due) await pace.rest();
    if (used === bytes.length) bytes = doubled(bytes);
    const read = file.read(bytes.subarray(used));
    more = read > 0;
    used += read;
    for (let next = endOf(bytes.subarray(0, used), end, feed); next > 0 && lines < count;) {
      [end, lines] = [next, lines + 1];
      next = endOf(bytes.subarray(0, used), end, feed);
    }
    if (!more && lines < count && end < used) [end, lines] = [used, lines + 1];
    if (used - end > MAX_LINE_BYTES) {
      throw advised(
        new RangeError(
          `Cannot read ${place.path} from byte ${at + end}: a line there is longer than 16 MiB, the limit`,
        ),
        "search with fs.grep",
      );
    }
  }
  const { text } = textOf(context, bytes.slice(0, end), {
    ...of,
    encoding: encoding ?? (feed.length > 1 ? own : undefined),
  });
  return { lines: linesOf(text), next: at + end < size ? at + end : null };
}

function endOf(bytes: Uint8Array, from: number, feed: readonly number[]): number {
  const [first = LINE_FEED, second] = feed;
  for (let at = bytes.indexOf(first, from); at >= 0; at = bytes.indexOf(first, at + 1)) {
    if (second === undefined || (at % 2 === 0 && bytes[at + 1] === second)) return at + feed.length;
  }
  return 0;
}

function linesOf(text: string): string[] {
  if (text === "") return [];
  return (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n").map((line) =>
    line.endsWith("\r") ? line.slice(0, -1) : line
  );
}

function doubled(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(2 * bytes.length);
  copy.set(bytes);
  return copy;
}
