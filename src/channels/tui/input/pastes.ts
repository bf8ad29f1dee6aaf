import type { Outgoing } from "./outgoing.ts";

/** Longer text is not part of a request: it becomes a variable for the model. */
const REQUEST_CHARS = 20_000;

/** Large pasted texts, each with a label in the input. */
export class Pastes {
  readonly #texts = new Map<string, string>();
  #count = 0;

  /** The label of a text that becomes a variable; null if it belongs in the request itself. */
  keep(text: string): string | null {
    if (text.length <= REQUEST_CHARS) return null;
    const name = `pasted_${++this.#count}`;
    this.#texts.set(name, text);
    const lines = text.split("\n").length;
    return `[${name}: ${sizeOf(text.length)}, ${lines} ${lines === 1 ? "line" : "lines"}]`;
  }

  /** Starts another message. Numbering continues: a message that waits to be sent may come back. */
  forget(): void {
    this.#texts.clear();
  }

  /** Restores the texts of a message that was not sent. */
  restore(variables: Outgoing["variables"]): void {
    for (const [name, text] of Object.entries(variables)) this.#texts.set(name, text);
  }

  /** The message with the texts whose labels are still in it. */
  outgoing(text: string): Pick<Outgoing, "text" | "variables"> {
    const named = [...this.#texts].filter(([name]) => text.includes(`[${name}:`));
    return { text, variables: Object.fromEntries(named) };
  }
}

function sizeOf(chars: number): string {
  return chars < 1_000_000 ? `${Math.round(chars / 1_000)} kB` : `${(chars / 1_000_000).toFixed(1)} MB`;
}
