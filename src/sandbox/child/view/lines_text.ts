import { look } from "../intrinsics/look.ts";

/** At one control character per this many, the text is not meant for reading. */
const READABLE = 20;
const FENCE = '"""';

/** What a cut must at least save, and how far from its place a line may end. */
const LEAST_CUT = 150, LINE = 200;

/** Multi-line text between `"""`, otherwise unchanged; longer than `max` characters, its first and last lines. Null if
 * quoting on one line is better: no line break, or a text of control characters. */
export function linesText(text: string, max: number): string | null {
  if (look.indexOf(text, "\n") < 0) return null;
  const whole = text.length < max + LEAST_CUT;
  const head = whole ? text.length : lineEnd(text, max - ((max / 3) | 0));
  const rest = whole ? text.length : lineStart(text, text.length - ((max / 3) | 0));
  const first = look.slice(text, 0, head), last = look.slice(text, rest);
  if (!isReadable(first) || !isReadable(last)) return null;
  const end = look.indexOf(first, "\r\n") >= 0 ? `${FENCE} (lines end in \\r\\n)` : FENCE;
  if (whole) return `${FENCE}\n${withoutReturns(first)}${end}`;
  const gap = look.charCodeAt(first, head - 1) === 10 ? "" : "\n";
  const mark = `${gap}... ${rest - head} characters left out ...\n`;
  return `${FENCE}\n${withoutReturns(first)}${mark}${withoutReturns(last)}${end}`;
}

/** The end of the last line before a place, or the place itself in a long line. */
function lineEnd(text: string, at: number): number {
  for (let i = at; i > 0 && i > at - LINE; i--) if (look.charCodeAt(text, i - 1) === 10) return i;
  return at;
}

/** The start of the first line after a place, or the place itself in a long line. */
function lineStart(text: string, at: number): number {
  for (let i = at; i < text.length && i < at + LINE; i++) if (look.charCodeAt(text, i - 1) === 10) return i;
  return at;
}

/** Lone surrogates and control characters other than line breaks are invisible; a few do no harm. */
function isReadable(text: string): boolean {
  let odd = 0;
  for (let i = 0; i < text.length; i++) {
    const c = look.charCodeAt(text, i);
    if ((c < 32 && c !== 9 && c !== 10 && c !== 13) || c === 127 || c === 0xfffd) odd++;
  }
  return odd * READABLE <= text.length;
}

function withoutReturns(text: string): string {
  let out = "", from = 0;
  for (let at = look.indexOf(text, "\r\n"); at >= 0; at = look.indexOf(text, "\r\n", from)) {
    out += look.slice(text, from, at);
    from = at + 1;
  }
  return out + look.slice(text, from);
}
