import { type OpenThinking, thinkingAfter } from "./think_parts.ts";

interface ReplyDelta {
  readonly thinking: string;
  readonly code: { block: number; delta: string }[];
  readonly answer: string;
}

interface Shown {
  readonly thinking: string[];
  readonly code: { readonly block: number; readonly chars: string[] }[];
  readonly answer: string[];
}

/** The result is only for display: `parseReply` decides which code runs and which answer counts. */
export class ReplyStream {
  readonly #outside = new FenceScanner();
  #inside: JsonTextScanner | null = null;
  #done = false;
  /** If a delta ended inside a surrogate pair, this field keeps the first half. */
  #half = "";

  push(delta: string): ReplyDelta {
    if (this.#done) return { thinking: "", code: [], answer: "" };
    const out: Shown = { thinking: [], code: [], answer: [] };
    const text = this.#half + delta;
    this.#half = /[\ud800-\udbff]$/.test(text) ? text.slice(-1) : "";
    const end = text.length - this.#half.length;
    for (let at = 0; at < end && !this.#done; at++) this.#take(text[at] ?? "", out);
    const code = out.code.map(({ block, chars }) => ({ block, delta: chars.join("").toWellFormed() }));
    return { thinking: out.thinking.join("").toWellFormed(), code, answer: out.answer.join("").toWellFormed() };
  }

  #take(char: string, out: Shown): void {
    const found = this.#inside === null ? this.#outside.take(char) : this.#inside.take(char);
    switch (found.kind) {
      case "thinking":
        out.thinking.push(found.text);
        return;
      case "code":
        return add(out, found);
      case "answer":
        out.answer.push(found.text);
        return;
      case "object":
        this.#inside = new JsonTextScanner();
        for (const early of found.text) this.#inside.take(early);
        return;
      case "end":
        this.#done = true;
        return;
      case "none":
        return;
      default:
        found satisfies never;
    }
  }
}

function add({ code }: Shown, { block, text }: { readonly block: number; readonly text: string }): void {
  const last = code.at(-1);
  if (last?.block === block) last.chars.push(text);
  else code.push({ block, chars: [text] });
}

type StreamPiece =
  | { readonly kind: "none" }
  | { readonly kind: "end" }
  | { readonly kind: "thinking"; readonly text: string }
  | { readonly kind: "code"; readonly block: number; readonly text: string }
  | { readonly kind: "answer"; readonly text: string }
  | { readonly kind: "object"; readonly text: string };

const NO_PIECE: StreamPiece = { kind: "none" };

const OPENS = /[>\]▷:\nA-Z{]/;
const CODE_FENCE = /^\s*`{3,}\s*(?:ts|tsx|typescript|js|jsx|javascript)\s*$/i;
const MAX_LINE = 80;
const MAX_OPEN = 120;
const MAX_CLOSE = 24;

class FenceScanner {
  #mode: "prose" | "thinking" | "code" = "prose";
  #thought: OpenThinking | null = null;
  #tail = "";
  #line = "";
  /** The scanner holds this text back until it can decide between a tag, a closing fence and the start of JSON. */
  #held = "";
  #block = -1;
  #depth = 0;

  take(char: string): StreamPiece {
    switch (this.#mode) {
      case "prose":
        return this.#prose(char);
      case "thinking":
        return this.#thinking(char);
      case "code":
        return this.#code(char);
      default:
        return this.#mode satisfies never;
    }
  }

  #prose(char: string): StreamPiece {
    this.#tail = (this.#tail + char).slice(-MAX_OPEN);
    this.#thought = OPENS.test(char) ? thinkingAfter(this.#tail) : null;
    if (this.#thought !== null) {
      this.#mode = "thinking";
      this.#held = this.#line = this.#tail = "";
      return this.#thought.keepsLast ? { kind: "thinking", text: char } : NO_PIECE;
    }
    if (this.#held !== "") {
      if (/\s/.test(char) && this.#held.length < MAX_LINE) {
        this.#held += char;
        return NO_PIECE;
      }
      const text = this.#held + char;
      this.#held = "";
      if (text.startsWith("{") ? /["']/.test(char) : char === "{") return { kind: "object", text };
    }
    if (char === "{" || char === "[") this.#held = char;
    if (char === "\n") {
      const opens = CODE_FENCE.test(this.#line);
      this.#line = "";
      if (opens) {
        this.#mode = "code";
        this.#held = "";
        this.#block++;
        this.#depth = 1;
      }
      return NO_PIECE;
    }
    if (this.#line.length < MAX_LINE) this.#line += char;
    return NO_PIECE;
  }

  #thinking(char: string): StreamPiece {
    const { close, starts } = this.#thought ?? {};
    if (close === undefined || starts === undefined || this.#held === "" && !starts.test(char)) {
      return { kind: "thinking", text: char };
    }
    const text = this.#held + char;
    const end = close.exec(text)?.index ?? -1;
    if (end !== -1) {
      this.#mode = "prose";
      this.#held = "";
      // The end mark may be the beginning of the next mark.
      this.#tail = text.slice(end);
      return end === 0 ? NO_PIECE : { kind: "thinking", text: text.slice(0, end) };
    }
    const rest = text.length <= MAX_CLOSE ? text : text.slice(1);
    const from = rest.search(starts);
    this.#held = from === -1 ? "" : rest.slice(from);
    const shown = text.slice(0, text.length - this.#held.length);
    return shown === "" ? NO_PIECE : { kind: "thinking", text: shown };
  }

  #code(char: string): StreamPiece {
    const text = this.#held + char;
    if (
      this.#line === "" && char !== "\n" && /^\s{0,3}`*[\w \t]*$/.test(text) &&
      (text.trim() === "" || text.includes("`"))
    ) {
      this.#held = text;
      return NO_PIECE;
    }
    this.#held = "";
    if (char === "\n") {
      const [, mark, info] = /^\s*(`{3,})\s*(\w*)\s*$/.exec(text) ?? [];
      if (mark !== undefined) this.#depth += info === "" ? -1 : 1;
      if (this.#depth === 0) {
        this.#mode = "prose";
        return NO_PIECE;
      }
      this.#line = "";
    } else this.#line = char;
    return { kind: "code", block: this.#block, text };
  }
}

type Role = "reply" | "blocks" | "block" | "final" | "other";

interface Frame {
  readonly role: Role;
  readonly closer: string;
  block: number;
  key: string;
  keyNext: boolean;
}

type Sink = { readonly kind: "key" | "thinking" | "answer" | "ignored" } | {
  readonly kind: "code";
  readonly block: number;
};

const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  b: "\\b",
  f: "\f",
  "/": "/",
  '"': '"',
  "\\": "\\",
};
const MAX_KEY = 40;
const MAX_DEPTH = 64;

class JsonTextScanner {
  readonly #frames: Frame[] = [];
  #deeper = 0;
  #quote = "";
  #sink: Sink = { kind: "ignored" };
  #escape = "";
  /** If a reply writes a surrogate pair as two escapes, this field keeps the first half. */
  #half = "";
  #answer: AnswerDraft | null = null;

  take(char: string): StreamPiece {
    return this.#quote === "" ? this.#structure(char) : this.#inString(char);
  }

  #structure(char: string): StreamPiece {
    const frame = this.#frames.at(-1);
    if (char === "{" || char === "[") this.#open(char);
    else if (char === "}" || char === "]") return this.#close();
    else if (char === '"' || char === "'") {
      this.#quote = char;
      this.#sink = this.#sinkOf(frame);
      if (this.#sink.kind === "key" && frame) frame.key = "";
    } else if (char === ":" && frame) frame.keyNext = false;
    else if (char === "," && frame && this.#deeper === 0) {
      frame.keyNext = frame.closer === "}";
      if (frame.role === "blocks") frame.block++;
    }
    return NO_PIECE;
  }

  #open(char: "{" | "["): void {
    if (this.#frames.length >= MAX_DEPTH) {
      this.#deeper++;
      return;
    }
    const parent = this.#frames.at(-1);
    const closer = char === "{" ? "}" : "]";
    this.#frames.push({
      role: roleOf(parent, char),
      closer,
      block: parent?.block ?? 0,
      key: "",
      keyNext: char === "{",
    });
  }

  #close(): StreamPiece {
    if (this.#deeper > 0) this.#deeper--;
    else this.#frames.pop();
    return this.#frames.length === 0 ? { kind: "end" } : NO_PIECE;
  }

  #sinkOf(frame: Frame | undefined): Sink {
    if (!frame || this.#deeper > 0) return { kind: "ignored" };
    if (frame.keyNext) return { kind: "key" };
    const key = frame.key.toLowerCase();
    if (frame.role === "reply" && key === "thinking") return { kind: "thinking" };
    if (isAnswer(frame, key)) {
      if (this.#answer !== null) return { kind: "ignored" };
      this.#answer = new AnswerDraft();
      return { kind: "answer" };
    }
    const hasCode = frame.role === "reply" || frame.role === "block";
    const isCode = frame.role === "blocks" || hasCode && (key === "expr" || key === "code");
    return isCode ? { kind: "code", block: frame.block } : { kind: "ignored" };
  }

  #inString(char: string): StreamPiece {
    if (this.#escape !== "") return this.#escaped(char);
    if (char === "\\") {
      this.#escape = char;
      return NO_PIECE;
    }
    if (char === this.#quote) {
      this.#quote = "";
      return this.#sink.kind === "answer" ? answerPiece(this.#answer?.end() ?? "") : NO_PIECE;
    }
    return this.#text(char);
  }

  #escaped(char: string): StreamPiece {
    const escape = this.#escape + char;
    if (escape[1] === "u" && escape.length < 6 && /^\\u[0-9a-fA-F]*$/.test(escape)) {
      this.#escape = escape;
      return NO_PIECE;
    }
    this.#escape = "";
    if (/^\\u[0-9a-fA-F]{4}$/.test(escape)) {
      return this.#unit(String.fromCharCode(Number.parseInt(escape.slice(2), 16)));
    }
    if (escape === "\\'") return this.#text("'");
    return this.#text(escape.length === 2 ? ESCAPES[char] ?? escape : escape);
  }

  #unit(char: string): StreamPiece {
    if (!/[\ud800-\udbff]/.test(char)) return this.#text(char);
    this.#half = char;
    return NO_PIECE;
  }

  #text(text: string): StreamPiece {
    const whole = this.#half + text;
    this.#half = "";
    const frame = this.#frames.at(-1);
    switch (this.#sink.kind) {
      case "key":
        if (frame && frame.key.length < MAX_KEY) frame.key += whole;
        return NO_PIECE;
      case "thinking":
        return { kind: "thinking", text: whole };
      case "code":
        return { kind: "code", block: this.#sink.block, text: whole };
      case "answer":
        return answerPiece(this.#answer?.take(whole) ?? "");
      case "ignored":
        return NO_PIECE;
      default:
        return this.#sink satisfies never;
    }
  }
}

function answerPiece(text: string): StreamPiece {
  return text === "" ? NO_PIECE : { kind: "answer", text };
}

const FINAL = /^final_?answer$|^final$/;

function isAnswer({ role }: Frame, key: string): boolean {
  return role === "final" ? key === "answer" : role === "reply" && (key === "answer" || FINAL.test(key));
}

const NAME = /^[\w$.\s]*$/;
const MAX_NAME = 80;
const MAX_TAG = 200;

/** The draft is empty while the text may be the name of a variable, and has … in place of an inserted value. */
class AnswerDraft {
  #held = "";
  #begun = false;

  take(text: string): string {
    this.#held += text;
    if (!this.#begun) {
      if (this.#held.length < MAX_NAME && NAME.test(this.#held) && !/\S\s+\S/.test(this.#held)) return "";
      this.#begun = true;
    }
    return this.#shown();
  }

  end(): string {
    const rest = this.#begun && !this.#held.startsWith("{{") ? this.#held : "";
    this.#held = "";
    return rest;
  }

  #shown(): string {
    let shown = "";
    for (;;) {
      const at = this.#held.indexOf("{");
      if (at < 0) {
        shown += this.#held;
        this.#held = "";
        return shown;
      }
      shown += this.#held.slice(0, at);
      this.#held = this.#held.slice(at);
      if (this.#held === "{") return shown;
      const isTag = this.#held.startsWith("{{");
      const tag = isTag ? /^\{\{(?:\{[^}\n]*\}\}\}|(?!\{)[^}\n]*\}\})/.exec(this.#held)?.[0] : undefined;
      if (isTag && tag === undefined && this.#held.length < MAX_TAG && !this.#held.includes("\n")) return shown;
      const whole = tag ?? this.#held.slice(0, 1);
      shown += tag === undefined ? whole : /^\{\{\s*[#^/!]/.test(tag) ? "" : "…";
      this.#held = this.#held.slice(whole.length);
    }
  }
}

function roleOf(parent: Frame | undefined, char: "{" | "["): Role {
  if (!parent) return char === "{" ? "reply" : "blocks";
  if (parent.role === "blocks") return char === "{" ? "block" : "other";
  if (parent.role === "reply" && char === "{" && FINAL.test(parent.key.toLowerCase())) return "final";
  if (parent.role !== "reply" || parent.key.toLowerCase() !== "code") return "other";
  return char === "{" ? "block" : "blocks";
}
