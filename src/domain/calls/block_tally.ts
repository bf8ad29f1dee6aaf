import type { CalledAction } from "./call_action.ts";
import type { HostCallEvent } from "./host_call.ts";

interface Tally extends Pick<CalledAction, "done" | "things" | "subject"> {
  calls: number;
  readonly outcome: string;
}

/** What the calls of a block did, counted by kind: "read 3 files, ran npm test · 12 passed". */
export class BlockTally {
  readonly #kinds = new Map<string, Tally>();

  take({ phase, ok, action, outcome = "" }: HostCallEvent): void {
    if (phase === "start" || !ok || !action) return;
    const { done, things, subject } = action;
    const kind = `${done} ${things}`;
    const known = this.#kinds.get(kind);
    if (!known) return void this.#kinds.set(kind, { done, things, subject, calls: 1, outcome });
    known.calls++;
  }

  /** One line; "" if no call ended well. */
  get text(): string {
    return [...this.#kinds.values()].map(textOf).join(", ");
  }
}

function textOf({ done, things, subject, calls, outcome }: Tally): string {
  if (calls > 1) return `${done} ${calls} ${things}`;
  return [`${done} ${subject}`.trimEnd(), outcome].filter((part) => part !== "").join(" · ");
}
