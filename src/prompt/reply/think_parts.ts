import { jsonOrUndefined } from "../../domain/kit/json.ts";

/** Models of a family begin and end their thinking with these marks, which some services leave in the text. */
interface Family {
  readonly open: string;
  readonly close: string;
  readonly starts: string;
  /** If true, letter case matters, because prose contains the same letters. */
  readonly isExact?: true;
  /** If true, the end mark has a meaning only after the opening mark of this family. */
  readonly endsOnlyItself?: true;
}

const NAMES = "think|thinking|thoughts?|reason|reasoning(?:_content)?|reflection|scratch_?pad|analysis";
const CHANNEL = "<\\|?channel\\|?>\\s*";
const HEADER = "[^<{\\n]{0,80}(?:<\\|?constrain\\|?>\\s*\\w*\\s*)?(?:<\\|?message\\|?>|\\n)";

const FAMILIES: readonly Family[] = [
  { open: `<(?:[a-z]+:)?(?:${NAMES})(?::[a-z]+)?>`, close: `</(?:[a-z]+:)?(?:${NAMES})(?::[a-z]+)?>`, starts: "<" },
  { open: `◁(?:${NAMES})▷`, close: `◁/(?:${NAMES})▷`, starts: "◁" },
  {
    open: "\\[(?:THINK|THINKING|REASONING)\\]",
    close: "\\[/(?:THINK|THINKING|REASONING)\\]",
    starts: "[",
    isExact: true,
  },
  { open: "\\[unused16\\]", close: "\\[unused17\\]", starts: "[" },
  {
    open: `<[|｜](?:(?:begin|start)_(?:of_)?)?(?:${NAMES})[|｜]>`,
    close: `<[|｜](?:/|end_(?:of_)?)(?:${NAMES})[|｜]>|(?=<\\|(?:end|content)\\|>)`,
    starts: "<",
  },
  {
    open: `(?:<\\|start\\|>\\s*assistant\\s*)?${CHANNEL}(?:analysis|thoughts?|think|thinking|reasoning)\\b${HEADER}`,
    close: `<\\|(?:end|return|call)\\|>|<channel\\|>|</channel>|(?=${CHANNEL}[a-z])|(?=<\\|start\\|>)`,
    starts: "<",
    endsOnlyItself: true,
  },
  { open: "<\\|inner_prefix\\|>", close: "<\\|inner_suffix\\|>", starts: "<" },
  { open: "<\\|open\\|>think<\\|sep\\|>", close: "<\\|close\\|>think<\\|sep\\|>", starts: "<" },
  { open: "<\\|content_thinking\\|>", close: "<\\|end_message\\|>", starts: "<", endsOnlyItself: true },
  {
    open: "(?<![^\\n])Here(?:'s| is) my thought process:",
    close: "Here(?:'s| is) my response:",
    starts: "H",
    isExact: true,
  },
  {
    open: "(?<![\\s\\S])\\s*(?:assistant)?analysis(?=[A-Z{])",
    close: "assistant(?:final|commentary)",
    starts: "a",
    isExact: true,
  },
];

/** These marks come before an answer, so the text before them is thinking. */
const ANSWER = [
  `(?:<\\|start\\|>\\s*assistant\\s*)?${CHANNEL}(?:final|answer|response)\\b${HEADER}`,
  "<\\|begin_of_solution\\|>",
  "<\\|START_(?:RESPONSE|TEXT)\\|>",
  "<\\|open\\|>response<\\|sep\\|>",
  "<\\|content(?:_text)?\\|>",
  "<channel\\|>",
].join("|");

const ANY = new RegExp([ANSWER, ...FAMILIES.flatMap(({ open, close }) => [open, close])].join("|"), "i");
/** Vis parses JSON values to ignore marks in their text, and the limit bounds this work. */
const MAX_VALUES = 1_000;
const REPLY = /^[{[]\s*\{?\s*["'“]?(?:thinking|code|next|final|answer|expr)["'”]?\s*:/i;
const MAX_WORK = 2_500_000;

export interface OpenThinking {
  readonly close: RegExp;
  readonly starts: RegExp;
  readonly keepsLast: boolean;
}

const STREAMED = FAMILIES.map(({ open, close, starts, isExact }) => {
  const ending = (source: string) => new RegExp(`(?:${source.replaceAll("(?=", "(?:")})$`, isExact ? "" : "i");
  return {
    open: ending(open),
    close: ending(close),
    starts: new RegExp(`[${starts === "[" ? "\\[" : starts}]`),
    keepsLast: open.endsWith("])"),
  };
});
const ANY_OPEN = new RegExp(STREAMED.map(({ open }) => open.source).join("|"), "i");

export function thinkingAfter(text: string): OpenThinking | null {
  return ANY_OPEN.test(text) ? STREAMED.find(({ open }) => open.test(text)) ?? null : null;
}

interface ThinkParts {
  readonly thinking: string;
  readonly body: string;
  /** `unclosed` is the opening mark of thinking without an end, or "" if all thinking is closed. */
  readonly unclosed: string;
}

/** A mark in a JSON value or in code is text. Some services omit the opening mark, so without one, the text before the
 * end mark is thinking. */
export function takeThinking(text: string): ThinkParts {
  return ANY.test(text) ? new Parts(text).take() : { thinking: "", body: text, unclosed: "" };
}

/** If text precedes the first opening mark, the marks may be a part of the answer, so nothing counts as thinking. The
 * text must not be a JSON reply. */
export function takeFirstThinking(text: string): ThinkParts {
  if (!ANY.test(text)) return { thinking: "", body: text, unclosed: "" };
  const parts = new Parts(text);
  const found = parts.take();
  return parts.leads ? found : { thinking: "", body: text, unclosed: "" };
}

type Kind = "open" | "close" | "answer" | "json" | "fence";

interface Found {
  readonly kind: Kind;
  readonly family: Family | null;
  readonly index: number;
  readonly end: number;
}

/** `at` must not decrease from call to call. */
class Finder {
  readonly #pattern: RegExp;
  #next: RegExpExecArray | null | undefined;

  constructor(readonly kind: Kind, readonly family: Family | null, source: string) {
    this.#pattern = new RegExp(source, family?.isExact ? "g" : "gi");
  }

  from(text: string, at: number): Found | null {
    if (this.#next === undefined || this.#next !== null && this.#next.index < at) {
      this.#pattern.lastIndex = at;
      this.#next = this.#pattern.exec(text);
    }
    const found = this.#next;
    if (found === null) return null;
    return { kind: this.kind, family: this.family, index: found.index, end: found.index + found[0].length };
  }
}

class Parts {
  readonly #text: string;
  readonly #fences: ReadonlyMap<number, Fence>;
  readonly #marks: readonly Finder[];
  readonly #closes = new Map<Family, Finder>();
  readonly #json = new Finder("json", null, `\\{\\s*["'“{[a-z]|\\[\\s*["'{[]`);
  readonly #thinking: string[] = [];
  #body: string[] = [];
  /** An invalid JSON reply begins here, and its end is unknown. */
  #faulty = Infinity;
  #leads: boolean | null = null;
  #values = 0;
  #work = 0;

  constructor(text: string) {
    this.#text = text;
    const code = findFences(text).filter((fence) => fence.closed && (isCode(fence) || !fence.content.includes("{")));
    this.#fences = new Map(code.map((fence) => [fence.start, fence]));
    this.#marks = [
      new Finder("answer", null, ANSWER),
      ...FAMILIES.map((family) => new Finder("open", family, family.open)),
      ...FAMILIES.filter(({ endsOnlyItself }) => !endsOnlyItself).map((family) =>
        // A token that only follows the thinking is not a mark, so this expression removes the last part of `close`.
        new Finder("close", family, family.close.replace(/\|\(\?=.*$/, ""))
      ),
      ...[...this.#fences.keys()].length > 0 ? [new Finder("fence", null, "(?<![^\\n])[ \\t]*(?:`{3,}|~{3,})")] : [],
    ];
  }

  /** The caller must call `take` first. */
  get leads(): boolean {
    return this.#leads ?? false;
  }

  take(): ThinkParts {
    let unclosed = "";
    for (let at = 0, from = 0;;) {
      const found = this.#next(at);
      if (found === null) {
        this.#body.push(this.#text.slice(from));
        break;
      }
      const { kind, index, end } = found;
      const valueEnd = kind === "json" ? this.#valueEnd(index) : this.#fences.get(index)?.end ?? null;
      if (kind === "json" || kind === "fence") {
        if (kind === "json" && valueEnd === null && REPLY.test(this.#text.slice(index, index + 100))) {
          this.#faulty = Math.min(this.#faulty, index);
        }
        at = valueEnd ?? end;
        continue;
      }
      if (this.#isText(found)) {
        at = Math.max(end, index + 1);
        continue;
      }
      this.#leads ??= kind !== "open" || this.#text.slice(0, index).trim() === "";
      this.#body.push(this.#text.slice(from, index));
      at = from = end;
      if (kind === "close" && this.#isAnswerAlone(end)) break;
      if (kind !== "open") {
        this.#thinking.push(this.#body.join(""));
        this.#body = [];
        if (end === index) at = index + 1;
        continue;
      }
      const close = this.#closeOf(found);
      this.#thinking.push(this.#text.slice(end, close?.index));
      if (close === null) {
        unclosed = this.#text.slice(index, end).trim();
        break;
      }
      at = from = close.end;
    }
    const thinking = this.#thinking.map((part) => part.trim()).filter((part) => part !== "").join("\n");
    return { thinking, body: this.#body.join(""), unclosed };
  }

  /** A reply with code does not count, because the code may be a draft. */
  #isAnswerAlone(end: number): boolean {
    const before = this.#body.join("").trim();
    if (!REPLY.test(before) || /[\p{L}\p{N}{]/u.test(this.#text.slice(end))) return false;
    const reply = jsonOrUndefined(before);
    return typeof reply === "object" && reply !== null && "final" in reply && !("code" in reply);
  }

  #next(at: number): Found | null {
    const all = [this.#json, ...this.#marks].map((finder) => finder.from(this.#text, at)).filter((one) => one !== null);
    return all.reduce<Found | null>((first, one) => first === null || one.index < first.index ? one : first, null);
  }

  #closeOf({ family, end }: Found): Found | null {
    if (family === null) return null;
    const closes = this.#closes.get(family) ?? new Finder("close", family, family.close);
    this.#closes.set(family, closes);
    for (let at = end;;) {
      const close = closes.from(this.#text, at);
      if (close === null) return null;
      let value = this.#json.from(this.#text, at);
      let inside = -1;
      while (value !== null && value.index < close.index && inside === -1) {
        const valueEnd = this.#valueEnd(value.index);
        if (valueEnd !== null && valueEnd > close.index) inside = valueEnd;
        else value = this.#json.from(this.#text, valueEnd ?? value.index + 1);
      }
      if (inside === -1 && !this.#isText(close)) return close;
      at = inside === -1 ? Math.max(close.end, close.index + 1) : inside;
    }
  }

  #valueEnd(index: number): number | null {
    if (this.#values >= MAX_VALUES || this.#work > MAX_WORK) return null;
    this.#values++;
    const { end } = scanJson(this.#text, index);
    this.#work += (end === -1 ? this.#text.length : end) - index;
    if (end === -1) return null;
    try {
      JSON.parse(this.#text.slice(index, end));
      return end;
    } catch {
      return null;
    }
  }

  #isText({ kind, index, end }: Found): boolean {
    const before = this.#text.slice(Math.max(0, index - 1), index);
    const after = this.#text.slice(end, end + 1);
    if (/["'`/]/.test(before) && (after === before || after === "\\")) return true;
    if (index < this.#faulty) return false;
    const line = this.#text.slice(Math.max(0, index - 200), index).split("\n").at(-1) ?? "";
    if (line.trim() === "" || kind === "open" && /[}\]]\s*$/.test(line)) return false;
    return !/^\s*(?:[`~]{3,}\w*\s*)?(?:[{[]|$)/.test(this.#text.slice(end, end + 200));
  }
}

export interface Fence {
  readonly language: string;
  readonly content: string;
  readonly start: number;
  readonly end: number;
  readonly closed: boolean;
}

const LINE = /^[ \t]*(`{3,}|~{3,})[ \t]*([\w.+#-]*)[^\n`]*$/gm;
const CODE = new Set(["ts", "tsx", "typescript", "js", "jsx", "javascript", "mjs", "mts", "deno", "node"]);
const LOOKS_LIKE_REPLY = /^\s*\{\s*"(?:thinking|code|next|final)"\s*:/;
const LOOKS_LIKE_CODE = /\b(?:await|const|let|var|function|class|return)\b|=>|console\.|\w\(.*\)/;

/** A fence with a language inside a fence is nested, and must close before the outer fence. */
export function findFences(text: string): Fence[] {
  const fences: Fence[] = [];
  let open: { mark: string; language: string; start: number; from: number; depth: number } | null = null;
  for (const match of text.matchAll(LINE)) {
    const [line, mark = "", info = ""] = match;
    const next = match.index + line.length + 1;
    if (open === null) {
      open = { mark, language: info.toLowerCase(), start: match.index, from: next, depth: 1 };
      continue;
    }
    if (mark[0] !== open.mark[0] || mark.length < open.mark.length) continue;
    if (info !== "") {
      open.depth++;
      continue;
    }
    if (--open.depth > 0) continue;
    const { language, start, from } = open;
    fences.push({ language, content: text.slice(from, match.index), start, end: next, closed: true });
    open = null;
  }
  if (open !== null) {
    const { language, start, from } = open;
    fences.push({ language, content: text.slice(from), start, end: text.length, closed: false });
  }
  return fences;
}

export function isCode({ language, content }: Fence): boolean {
  if (LOOKS_LIKE_REPLY.test(content)) return false;
  if (language !== "") return CODE.has(language);
  return !/^\s*[{[]/.test(content) && LOOKS_LIKE_CODE.test(content.slice(0, 4_000));
}

interface Scan {
  readonly end: number;
  /** Returns the text up to its last complete part, with closing brackets. */
  readonly closed: () => string;
}

export function scanJson(text: string, start: number): Scan {
  const stack: ("}" | "]")[] = [];
  const open = { "}": 0, "]": 0 };
  let key = false;
  let safe = start;
  let at = start;
  while (at < text.length) {
    const char = text[at];
    if (char === '"') {
      const end = stringEnd(text, at);
      if (end === -1) break;
      at = end;
      if (!key) safe = at;
      continue;
    }
    at++;
    if (char === "{" || char === "[") {
      const closer = char === "{" ? "}" : "]";
      stack.push(closer);
      open[closer]++;
      key = char === "{";
      safe = at;
    } else if (char === "}" || char === "]") {
      // Each step pops, so the whole pass takes linear time.
      while (open[char] > 0) {
        const closer = stack.pop();
        if (closer === undefined) break;
        open[closer]--;
        if (closer === char) break;
      }
      key = false;
      safe = at;
      if (stack.length === 0) return { end: at, closed: () => text.slice(start, at) };
    } else if (char === ",") {
      if (!key) safe = at - 1;
      key = stack.at(-1) === "}";
    } else if (char === ":") key = false;
  }
  return { end: -1, closed: () => text.slice(start, safe) + stack.toReversed().join("") };
}

function stringEnd(text: string, at: number): number {
  for (let i = at + 1; i < text.length; i++) {
    const char = text[i];
    if (char === "\\") i++;
    else if (char === '"') return i + 1;
  }
  return -1;
}
