import { type OpenThinking, thinkingAfter } from "./think_parts.ts";
import { NO_PIECE, type StreamPiece } from "./_stream_piece.ts";

/** Characters with which the beginning of thinking may end. */
const OPENS = /[>\]▷:\nA-Z{]/;
const CODE_FENCE = /^\s*`{3,}\s*(?:ts|tsx|typescript|js|jsx|javascript)\s*$/i;
const MAX_LINE = 80;
/** Of a mark, the text before it on its line included. */
const MAX_OPEN = 120;
const MAX_CLOSE = 24;

/** Reads what comes before the reply object: thinking tags and fenced code, up to the first brace that begins JSON. */
export class FenceScanner {
  #mode: "prose" | "thinking" | "code" = "prose";
  #thought: OpenThinking | null = null;
  /** The end of the prose so far. */
  #tail = "";
  /** The relevant part of the current line. */
  #line = "";
  /** Text held back until it is known whether it is a tag, a closing fence or the start of JSON. */
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
      // It may be the beginning of the next mark.
      this.#tail = text.slice(end);
      return end === 0 ? NO_PIECE : { kind: "thinking", text: text.slice(0, end) };
    }
    const rest = text.length <= MAX_CLOSE ? text : text.slice(1);
    const from = rest.search(starts);
    this.#held = from === -1 ? "" : rest.slice(from);
    const shown = text.slice(0, text.length - this.#held.length);
    return shown === "" ? NO_PIECE : { kind: "thinking", text: shown };
  }

  /** The start of a line is held back while it may be a fence; `#line` is empty until part of it was shown. */
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
