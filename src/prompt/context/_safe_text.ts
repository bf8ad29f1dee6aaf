/** Tags of the context message. External text must neither open nor close one. */
const TAGS = ["notes", "prior_thinking", "handover", "journal", "attempts", "var_index"];

/** Invisible characters, which must not hide a tag or the start of a line. */
const UNSEEN = "\\u00ad\\u034f\\u180e\\u200b-\\u200f\\u2060-\\u2064\\ufeff";
const TAG = new RegExp(`<(?=[\\s${UNSEEN}]*(?:/[\\s${UNSEEN}]*)?(?:${TAGS.join("|")})\\b)`, "gi");
/** A line that reads as a header, a nudge or a journal row. `[1]` as an item of a printed array does not match. */
const OURS = new RegExp(
  `^(?=(?:(?!\\n)[\\s${UNSEEN}])*\\[(?:iter\\b|system_nudge|\\d+\\](?![,;:)\\]}.]|\\n|$)))`,
  "gim",
);
/** So little is not worth a cut. */
const SPARE_CHARS = 100;
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

/** Head and tail within `cap` characters, at line ends where there are some, stating how much is left out. A text that
 * is hardly longer is left whole. The cut never begins a line. */
export function headAndTail(
  text: string,
  { cap, more = "" }: { readonly cap: number; readonly more?: string },
): string {
  if (text.length <= cap + Math.min(SPARE_CHARS, cap / 10)) return text;
  const room = cap - 34 - String(text.length).length - more.length;
  if (room < 40) return `${text.slice(0, Math.max(0, cap - 2)).replace(/[\ud800-\udbff]$/, "")} …`.slice(0, cap);
  const first = Math.ceil(room * 0.7);
  const head = headOf(text.slice(0, first)), tail = tailOf(text.slice(text.length - (room - first)));
  return `${head} … ${text.length - head.length - tail.length} characters left out${more} … ${tail}`;
}

/** Ends at a line feed, unless half of the text would be lost. */
function headOf(text: string): string {
  const end = text.lastIndexOf("\n");
  return end >= text.length / 2 ? text.slice(0, end) : text.replace(/[\ud800-\udbff]$/, "");
}

/** Begins with a line feed, unless half of the text would be lost. */
function tailOf(text: string): string {
  const begin = text.indexOf("\n");
  return begin >= 0 && begin < text.length / 2 ? text.slice(begin) : text.replace(/^[\udc00-\udfff]/, "");
}

/** Cut once, before anything large is built, by so much that it fits after it was made safe, which may make it longer. */
export function safeCut(
  text: string,
  options: { readonly cap: number; readonly inline?: boolean; readonly more?: string },
): string {
  const safe = safeText(headAndTail(text, options), options);
  if (safe.length <= options.cap + SPARE_CHARS) return safe;
  const cap = Math.floor(options.cap * options.cap / safe.length);
  const less = safeText(headAndTail(text, { ...options, cap }), options);
  return less.length <= options.cap + SPARE_CHARS ? less : headAndTail(less, options);
}

function visible(char: string): string {
  const code = char.charCodeAt(0);
  if (code === 0x2028 || code === 0x2029 || code === 0x85) return "\u2424";
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "\u2421" : "\ufffd";
}
