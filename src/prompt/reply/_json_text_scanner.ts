import { NO_PIECE, type StreamPiece } from "./_stream_piece.ts";

/** The meaning of a container of the reply. */
type Role = "reply" | "blocks" | "block" | "other";

interface Frame {
  readonly role: Role;
  readonly closer: string;
  /** Number of the block that the container is, or is at. */
  block: number;
  key: string;
  keyNext: boolean;
}

type Sink = { readonly kind: "key" | "thinking" | "ignored" } | { readonly kind: "code"; readonly block: number };

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

/** Reads the characters of one JSON value and yields the text of its `thinking` and `expr` strings. Lenient: it skips
 * what it does not understand. */
export class JsonTextScanner {
  readonly #frames: Frame[] = [];
  /** Depth of containers beyond any that a reply has. */
  #deeper = 0;
  #quote = "";
  #sink: Sink = { kind: "ignored" };
  #escape = "";
  /** First half of a surrogate pair that was written as two escapes. */
  #half = "";

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
    const isCode = frame.role === "blocks" || frame.role !== "other" && (key === "expr" || key === "code");
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
      return NO_PIECE;
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
      case "ignored":
        return NO_PIECE;
      default:
        return this.#sink satisfies never;
    }
  }
}

function roleOf(parent: Frame | undefined, char: "{" | "["): Role {
  if (!parent) return char === "{" ? "reply" : "blocks";
  if (parent.role === "blocks") return char === "{" ? "block" : "other";
  if (parent.role !== "reply" || parent.key.toLowerCase() !== "code") return "other";
  return char === "{" ? "block" : "blocks";
}
