import { confine } from "../workspace/confine.ts";
import type { FsContext } from "../workspace/context.ts";
import { openFile, refuseBinary } from "./read_place.ts";
import { Pace } from "../tree/pace.ts";
import { decodeText } from "../tree/text_bytes.ts";

export interface ReadLinesOptions {
  /** Where to begin, in bytes; 0 or the `next` of the previous piece. */
  readonly at?: number | undefined;
  /** How many lines at most. */
  readonly count?: number | undefined;
}

export interface LinePiece {
  /** Without line ends. */
  readonly lines: readonly string[];
  /** Where the next piece begins; null at the end of the file. */
  readonly next: number | null;
}

const DEFAULT_LINES = 10_000;
/** A piece ends with the line that reaches this size. */
const ENOUGH_BYTES = 4 << 20;
const MAX_LINE_BYTES = 16 << 20;
const CHUNK = 256 * 1024;
const LINE_FEED = 10;

/** The next lines of a file, however large it is: only the piece is in memory. */
export async function readLines(
  context: FsContext,
  path: string,
  { at = 0, count = DEFAULT_LINES }: ReadLinesOptions = {},
): Promise<LinePiece> {
  const place = confine(context, path);
  using file = await openFile(context, { place, action: "read" });
  const { size } = file.facts;
  if (at > size) throw new RangeError(`Cannot read ${place.path} from byte ${at}: it has ${size}`);
  file.seek(at);
  const pace = new Pace(context.signal);
  let bytes = new Uint8Array(CHUNK);
  let [used, end, lines] = [0, 0, 0];
  for (let more = true; more && lines < count && end < ENOUGH_BYTES;) {
    if (pace.due) await pace.rest();
    if (used === bytes.length) bytes = doubled(bytes);
    const read = file.read(bytes.subarray(used));
    if (at === 0 && used === 0) refuseBinary(bytes.subarray(0, read), { path: place.path, size, action: "read" });
    more = read > 0;
    used += read;
    for (let feed = bytes.indexOf(LINE_FEED, end); feed >= 0 && feed < used && lines < count;) {
      [end, lines] = [feed + 1, lines + 1];
      feed = bytes.indexOf(LINE_FEED, end);
    }
    if (!more && lines < count && end < used) [end, lines] = [used, lines + 1];
    if (used - end > MAX_LINE_BYTES) {
      throw new RangeError(`Cannot read ${place.path} from byte ${at + end}: a line of over 16 MB`);
    }
  }
  const { text } = decodeText(bytes.slice(0, end));
  return { lines: linesOf(text), next: at + end < size ? at + end : null };
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
