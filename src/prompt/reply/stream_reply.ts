import { JsonTextScanner } from "./_json_text_scanner.ts";
import { FenceScanner } from "./_fence_scanner.ts";

/** What a piece of a reply adds to what can be shown while it streams. */
export interface ReplyDelta {
  readonly thinking: string;
  readonly code: { block: number; delta: string }[];
}

/** The same while it is read, by characters: adding one to a text that is kept makes an object of each. */
interface Shown {
  readonly thinking: string[];
  readonly code: { readonly block: number; readonly chars: string[] }[];
}

/** Extracts thinking and code from a reply while it arrives, reading each character once. For display only:
 * `parseReply` decides what runs. The answer is never shown here, since it may be a template or be refused. Never
 * throws. */
export class ReplyStream {
  readonly #outside = new FenceScanner();
  #inside: JsonTextScanner | null = null;
  #done = false;
  /** First half of a surrogate pair that a delta ended in. */
  #half = "";

  push(delta: string): ReplyDelta {
    if (this.#done) return { thinking: "", code: [] };
    const out: Shown = { thinking: [], code: [] };
    const text = this.#half + delta;
    this.#half = /[\ud800-\udbff]$/.test(text) ? text.slice(-1) : "";
    const end = text.length - this.#half.length;
    for (let at = 0; at < end && !this.#done; at++) this.#take(text[at] ?? "", out);
    const code = out.code.map(({ block, chars }) => ({ block, delta: chars.join("").toWellFormed() }));
    return { thinking: out.thinking.join("").toWellFormed(), code };
  }

  #take(char: string, out: Shown): void {
    const found = this.#inside === null ? this.#outside.take(char) : this.#inside.take(char);
    switch (found.kind) {
      case "thinking":
        out.thinking.push(found.text);
        return;
      case "code":
        return add(out, found);
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
