import type { CalledAction } from "./call_action.ts";
import type { RecordedHostCall } from "./host_call.ts";

/** `threw`: a call had no result at all. */
type State = "good" | "bad" | "threw";

interface Tally extends CalledAction {
  calls: number;
  readonly state: State;
  readonly outcome: string;
}

/** A subject is not cut to fewer characters. */
const LEAST_SUBJECT = 12;
/** Failed calls whose output is kept, and characters of each. */
const MOST_OUTPUTS = 3, OUTPUT_CHARS = 2_000;

/** What the calls of a block did, counted by kind: "read 3 files, ran npm test · 12 passed". */
export class BlockTally {
  readonly #kinds = new Map<string, Tally>();
  readonly #words = new Map<string, CalledAction>();
  readonly #outputs: { readonly subject: string; readonly output: string }[] = [];
  #failed = false;

  /** The calls that are recorded with a block's result. */
  static of(calls: readonly RecordedHostCall[]): BlockTally {
    const tally = new BlockTally();
    for (const call of calls) tally.take(call);
    return tally;
  }

  take({ phase = "end", name, ok = true, action: own, outcome = "", output = "" }: RecordedHostCall): void {
    if (phase === "start") return;
    const words = this.#words.get(name); // only the first calls of a block are recorded with their words
    const action = own ?? (words && { ...words, subject: "" });
    if (!action) return;
    this.#words.set(name, action);
    const state = ok ? "good" : outcome === "" ? "threw" : "bad";
    if (!ok) this.#failed = true;
    if (output !== "" && this.#outputs.length < MOST_OUTPUTS) {
      this.#outputs.push({ subject: action.subject, output: output.slice(0, OUTPUT_CHARS) });
    }
    const kind = `${state} ${action.done} ${action.things}`;
    const known = this.#kinds.get(kind);
    if (!known) return void this.#kinds.set(kind, { ...action, state, calls: 1, outcome });
    known.calls++;
  }

  /** One line; "" if no call says what it does. */
  get text(): string {
    return [...this.#kinds.values()].map((tally) => textOf(tally)).join(", ");
  }

  /** The same within a width as far as shorter subjects can do that: how a call turned out stays. */
  textWithin(width: number): string {
    const over = this.text.length - width;
    if (over <= 0) return this.text;
    const kinds = [...this.#kinds.values()];
    const shown = kinds.map(({ calls, subject }) => calls > 1 ? 0 : subject.length);
    const longest = Math.max(...shown);
    const most = Math.max(LEAST_SUBJECT, longest - over);
    return kinds.map((tally, at) => textOf(tally, shown[at] === longest ? most : Infinity)).join(", ");
  }

  /** Whether a call threw or turned out badly. */
  get failed(): boolean {
    return this.#failed;
  }

  /** The end of what the failed calls printed; "" if they printed nothing. */
  get output(): string {
    const several = this.#outputs.length > 1;
    return this.#outputs.map(({ subject, output }) => several && subject !== "" ? `${subject}:\n${output}` : output)
      .join("\n");
  }
}

function textOf({ doing, done, things, subject, calls, state, outcome }: Tally, most = Infinity): string {
  const what = calls > 1 ? `${calls} ${things}` : subject.length > most ? `${subject.slice(0, most - 1)}…` : subject;
  if (state === "threw") return `${`${doing} ${what}`.trimEnd()} failed`;
  const end = calls === 1 ? outcome : state === "bad" ? "failed" : "";
  return [`${done} ${what}`.trimEnd(), end].filter((part) => part !== "").join(" · ");
}
