/** Tags of the context message. External text must neither open nor close one. */
const TAGS = ["notes", "prior_thinking", "handover", "journal", "changed", "attempts", "var_index"];

/** Invisible characters, which must not hide a tag or the start of a line. */
const UNSEEN = "\\u00ad\\u034f\\u180e\\u200b-\\u200f\\u2060-\\u2064\\ufeff";
const TAG = new RegExp(`<(?=[\\s${UNSEEN}]*(?:/[\\s${UNSEEN}]*)?(?:${TAGS.join("|")})\\b)`, "gi");
/** A line that reads as a header, a nudge or a journal row. `[1]` as an item of a printed array does not match. */
const OURS = new RegExp(
  `^(?=(?:(?!\\n)[\\s${UNSEEN}])*\\[(?:iter\\b|system_nudge|\\d+\\](?![,;:)\\]}.]|\\n|$)))`,
  "gim",
);
/** Control characters other than tab and line feed, line separators, direction overrides, invisible tag characters. */
const CONTROL = /[^\P{Cc}\t\n]|[\u2028\u2029\u202a-\u202e\u2066-\u2069]|[\u{e0000}-\u{e007f}]/gu;

/** Makes external text safe for the context: it cannot forge the structure around it. Set `inline` if it does not begin
 * a line. Applying it twice changes nothing more. */
export function safeText(text: string, { inline = false }: { readonly inline?: boolean } = {}): string {
  return text
    .toWellFormed()
    .replace(/\r\n?/g, "\n")
    .replace(CONTROL, visible)
    .replace(TAG, "‹")
    .replace(OURS, (_match, at: number) => inline && at === 0 ? "" : "> ");
}

/** The same on a single line, at most `limit` characters. */
export function safeLine(text: string, limit: number): string {
  const raw = text.length > limit * 4 ? text.slice(0, limit * 4) : text;
  const flat = safeText(raw, { inline: true }).replace(/\s+/g, " ").trim();
  return flat.length <= limit ? flat : `${flat.slice(0, Math.max(0, limit - 1)).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** Head and tail within `cap` characters, stating how much is left out. The cut never begins a line. */
export function headAndTail(
  text: string,
  { cap, more = "" }: { readonly cap: number; readonly more?: string },
): string {
  if (text.length <= cap) return text;
  const room = cap - 34 - String(text.length).length - more.length;
  if (room < 40) return `${text.slice(0, Math.max(0, cap - 2)).replace(/[\ud800-\udbff]$/, "")} …`.slice(0, cap);
  const first = Math.ceil(room * 0.7);
  const head = text.slice(0, first).replace(/[\ud800-\udbff]$/, "");
  const tail = text.slice(text.length - (room - first)).replace(/^[\udc00-\udfff]/, "");
  return `${head} … ${text.length - head.length - tail.length} characters left out${more} … ${tail}`;
}

/** Safe text, whole unless it has more than four times as many characters as may be shown of it. */
export interface RawCut {
  readonly text: string;
  /** Characters that `text` lacks in its middle, where a cut leaves them out anyway. */
  readonly hidden: number;
  /** Where to read the whole of it. */
  readonly more: string;
}

export function cutRaw(text: string, cap: number): Omit<RawCut, "more"> {
  if (text.length <= 4 * cap) return { text: safeText(text, { inline: true }), hidden: 0 };
  const kept = text.slice(0, 2 * cap) + text.slice(text.length - 2 * cap);
  return { text: safeText(kept, { inline: true }), hidden: text.length - kept.length };
}

/** The first and last lines of safe text within `cap` characters; a line that is too long for that is cut inside. */
export function wholeLines({ text, hidden, more }: RawCut, cap: number): string {
  if (text.length <= cap && hidden === 0) return text;
  const room = cap - 48 - more.length;
  if (room < 40) return headAndTail(text, { cap });
  let first = Math.ceil(room * 0.7), last = text.length - (room - first);
  const end = text.lastIndexOf("\n", first), begin = text.indexOf("\n", last);
  if (end > first / 2) first = end;
  if (begin >= 0 && text.length - begin > (text.length - last) / 2) last = begin;
  const head = text.slice(0, first).replace(/[\ud800-\udbff]$/, "");
  const tail = text.slice(last).replace(/^[\udc00-\udfff]/, "");
  const left = text.length + hidden - head.length - tail.length;
  return `${head}${first === end ? "\n" : " "}… ${left} characters left out${more} …${
    last === begin ? "" : " "
  }${tail}`;
}

/** Cut first, so that nothing large is built, then made safe, then cut again if quoting made it longer. */
export function safeCut(
  text: string,
  options: { readonly cap: number; readonly inline?: boolean; readonly more?: string },
): string {
  return headAndTail(safeText(headAndTail(text, options), options), options);
}

function visible(char: string): string {
  const code = char.charCodeAt(0);
  if (code === 0x2028 || code === 0x2029 || code === 0x85) return "\u2424";
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "\u2421" : "\ufffd";
}

/** Divides `total` among `needs`: none gets more than it needs, and what small ones leave goes to the large ones. */
export function fairShares(needs: readonly number[], total: number): number[] {
  const shares = needs.map(() => 0);
  const order = needs.map((need, at) => ({ need, at })).toSorted((a, b) => a.need - b.need);
  let left = Math.max(0, total);
  for (const [rank, { need, at }] of order.entries()) {
    const share = Math.min(need, Math.floor(left / (order.length - rank)));
    shares[at] = share;
    left -= share;
  }
  return shares;
}
