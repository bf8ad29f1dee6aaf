/** Signals with which V8 and the allocator end a process that is out of memory. */
const MEMORY_SIGNALS: ReadonlySet<string> = new Set(["SIGTRAP", "SIGABRT", "SIGSEGV", "SIGILL", "SIGBUS"]);
/** The last one: a thread for the next deadline, whose stack no longer fits into the limit. */
const MEMORY_TEXT =
  /out of memory|memory allocation of|Failed to reserve virtual memory|Cannot allocate memory|unable to create worker threads/i;
/** A shell in between reports 128 plus the signal's number. */
const SIGNALS_OF_CODES: Readonly<Record<number, string>> = {
  132: "SIGILL",
  133: "SIGTRAP",
  134: "SIGABRT",
  135: "SIGBUS",
  137: "SIGKILL",
  139: "SIGSEGV",
};
const PANIC_TEXT = /has panicked|panicked at/;

export interface ChildExitFacts {
  readonly status: Deno.CommandStatus;
  /** Clean text. */
  readonly stderr: string;
  /** Why Vis killed it; null if it did not. */
  readonly killedFor: string | null;
}

/** How a child ended. */
export class ChildExit {
  readonly #facts: ChildExitFacts;

  constructor(facts: ChildExitFacts) {
    this.#facts = facts;
  }

  /** Whether it ran out of memory. V8 aborts with a trap, the allocator with SIGABRT, and usually one of them reports
   * it on stderr. Near the limit there may be no memory left for the report, so such a signal without the text of a
   * panic counts too. */
  get outOfMemory(): boolean {
    const { stderr, killedFor } = this.#facts;
    if (killedFor !== null) return false;
    // deno-lint-ignore vis/no-message-parsing -- V8 and the allocator report it nowhere else
    if (MEMORY_TEXT.test(stderr)) return true;
    // deno-lint-ignore vis/no-message-parsing -- only the text distinguishes a panic from a lack of memory
    return this.#signal !== null && MEMORY_SIGNALS.has(this.#signal) && !PANIC_TEXT.test(stderr);
  }

  get #signal(): string | null {
    const { signal, code } = this.#facts.status;
    return signal ?? SIGNALS_OF_CODES[code] ?? null;
  }

  /** Fit for the model. */
  get why(): string {
    const { status: { code }, killedFor, stderr } = this.#facts;
    if (killedFor !== null) return killedFor;
    if (this.outOfMemory) return "it ran out of memory";
    if (this.#signal === "SIGKILL") return "something outside killed it (SIGKILL)";
    const last = stderr.trim().split("\n").find((line) => /\w/.test(line))?.slice(0, 200) ?? "";
    return `${this.#signal ?? `exit code ${code}`}${last ? `: ${last}` : ""}`;
  }
}
