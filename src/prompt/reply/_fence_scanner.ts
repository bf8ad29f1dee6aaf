import { NO_PIECE, type StreamPiece } from "./_stream_piece.ts";

const OPEN = /[<[◁](?:think|thinking|thought|reasoning)[>\]▷]$/i;
const CLOSE = /^[<[◁]\/(?:think|thinking|thought|reasoning)[>\]▷]$/i;
const CODE_FENCE = /^\s*`{3,}\s*(?:ts|tsx|typescript|js|jsx|javascript)\s*$/i;
const MAX_LINE = 80;
const MAX_TAG = 14;

/** Reads what comes before the reply object: thinking tags and fenced code, up to the first brace that begins JSON. */
export class FenceScanner {
  #mode: "prose" | "thinking" | "code" = "prose";
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
    if ((char === ">" || char === "]" || char === "▷") && OPEN.test(this.#line)) {
      this.#mode = "thinking";
      this.#held = "";
      this.#line = "";
    }
    return NO_PIECE;
  }

  #thinking(char: string): StreamPiece {
    const starts = char === "<" || char === "[" || char === "◁";
    if (this.#held === "" && !starts) return { kind: "thinking", text: char };
    const text = this.#held + char;
    if (CLOSE.test(text)) {
      this.#held = "";
      this.#mode = "prose";
      return NO_PIECE;
    }
    const hold = starts ? char : text;
    this.#held = hold.length < MAX_TAG ? hold : "";
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
