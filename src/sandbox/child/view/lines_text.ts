import { look } from "../intrinsics/look.ts";

/** At one control character per this many, the text is not meant for reading. */
const READABLE = 20;
const FENCE = '"""';

/** Multi-line text between `"""`, otherwise unchanged; longer than `max` characters, its first and last lines. Null if
 * quoting on one line is better: no line break, or a text of control characters. */
export function linesText(text: string, max: number): string | null {
  if (look.indexOf(text, "\n") < 0) return null;
  const whole = text.length <= max;
  const tail = whole ? 0 : (max / 3) | 0, head = whole ? text.length : max - tail;
  const first = look.slice(text, 0, head), last = tail > 0 ? look.slice(text, text.length - tail) : "";
  if (!isReadable(first) || !isReadable(last)) return null;
  const end = look.indexOf(first, "\r\n") >= 0 ? `${FENCE} (lines end in \\r\\n)` : FENCE;
  if (whole) return `${FENCE}\n${withoutReturns(first)}${end}`;
  const left = text.length - head - tail;
  return `${FENCE}\n${withoutReturns(first)}\n... ${left} characters left out ...\n${withoutReturns(last)}${end}`;
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
