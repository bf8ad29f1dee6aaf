import type { Conversations } from "../../../conversation/conversations.ts";
import { messageOf } from "../../../domain/errors.ts";
import { DrawnEntry } from "./drawn_entry.ts";
import type { TranscriptEntry } from "./entry.ts";
import type { DisplayOptions } from "./shown.ts";
import { StepEntry } from "./step_entry.ts";
import { storedStep } from "./stored_step.ts";

/** Iterations read at once. */
const PAGE = 40;

export interface OlderParts {
  readonly conversations: Conversations;
  readonly shown: () => DisplayOptions;
  readonly replace: (entry: TranscriptEntry, entries: readonly TranscriptEntry[]) => void;
}

/** Iterations of a query that have not been viewed yet: they are read when they come near, from the side they are
 * approached from. */
export class OlderEntry extends DrawnEntry {
  readonly #queryId: string;
  /** Positions (0-based) of the first one and after the last one. */
  readonly #range: { readonly from: number; readonly to: number };
  readonly #parts: OlderParts;
  #asked = false;
  #problem = "";

  constructor(queryId: string, range: { readonly from: number; readonly to: number }, parts: OlderParts) {
    super();
    this.#queryId = queryId;
    this.#range = range;
    this.#parts = parts;
  }

  get range(): { readonly from: number; readonly to: number } {
    return this.#range;
  }

  get pending(): boolean {
    return this.#asked && this.#problem === "";
  }

  seen(side: "above" | "below"): void {
    if (this.#asked || !this.#parts.shown().prefs.iterations) return;
    this.#asked = true;
    void this.#read(side).catch((error: unknown) => {
      this.#problem = messageOf(error);
      this.invalidate();
    });
  }

  protected draw(width: number): readonly string[] {
    const { theme, prefs } = this.#parts.shown();
    if (!prefs.iterations) return [];
    const count = this.#range.to - this.#range.from;
    const text = this.#problem || `… ${count} ${count === 1 ? "step" : "steps"}`;
    return [theme.dim(text.slice(0, width)), ""];
  }

  async #read(side: "above" | "below"): Promise<void> {
    const { from, to } = this.#range;
    const { conversations, shown, replace } = this.#parts;
    const first = side === "above" ? from : Math.max(from, to - PAGE);
    const limit = Math.min(PAGE, to - first);
    const rows = await conversations.iterations(this.#queryId, { after: first - 1, limit });
    const steps = rows.map((row) => new StepEntry(storedStep(row), shown));
    const rest = (range: { readonly from: number; readonly to: number }): OlderEntry[] =>
      range.from < range.to ? [new OlderEntry(this.#queryId, range, this.#parts)] : [];
    replace(this, [...rest({ from, to: first }), ...steps, ...rest({ from: first + limit, to })]);
  }
}
