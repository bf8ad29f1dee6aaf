import type { HostCallEvent } from "./calls.ts";
import type { ChangedFiles } from "./changed_files.ts";
import type { Work } from "./query_schemas.ts";

const MAX_KEPT = 200, MAX_LISTED = 20, SHOWN = 3;

interface Command {
  readonly exitCode: number | null;
  readonly outcome: string;
}

/** What the calls of a query did, with those of the queries below it. A call may be taken twice. */
export class QueryWork {
  /** The last run of each command, the newest last. */
  readonly #commands = new Map<string, Command>();
  readonly #others = new Set<string>();
  /** Whether a call may have changed something or ran a command. */
  acted = false;

  take(
    { name, phase = "end", action, outcome = "", exitCode, changes }:
      & Pick<HostCallEvent, "name" | "action" | "outcome" | "exitCode" | "changes">
      & { readonly phase?: HostCallEvent["phase"] },
  ): void {
    if (phase !== "end" || (changes === undefined && exitCode === undefined)) return;
    this.acted = true;
    const { done = "", subject = "" } = action ?? {};
    if (exitCode !== undefined) {
      if (subject === "") return;
      this.#commands.delete(subject);
      if (this.#commands.size < MAX_KEPT) this.#commands.set(subject, { exitCode, outcome });
    } else if (changes === "other" && done !== "" && done !== `called ${name}` && this.#others.size < MAX_KEPT) {
      const what = `${done} ${subject}`.trimEnd();
      this.#others.add(outcome === "" ? what : `${what} · ${outcome}`);
    }
  }

  /** With the files that were changed. `claimed`: the request or its answer is about work, done or not. */
  facts(files: ChangedFiles, { claimed }: { readonly claimed: boolean }): Work {
    const commands = [...this.#commands].map(([command, how]) => ({ command, ...how })), others = [...this.#others];
    const ran = commands.slice(-SHOWN).map(({ command, outcome }) =>
      outcome === "" ? command : `${command} (${outcome})`
    );
    const parts = [
      ...files.total === "" ? [] : [files.total],
      ...shown(others.slice(-SHOWN), others.length),
      ...shown(ran, commands.length).map((text, at) => at === 0 ? `ran ${text}` : text),
    ];
    const none = claimed && !this.acted ? "no file changed, no command ran" : "";
    return {
      ...files.counts,
      commands: commands.slice(-MAX_LISTED),
      others: others.slice(-MAX_LISTED),
      text: parts.join(", ") || none,
    };
  }
}

function shown(texts: readonly string[], all: number): readonly string[] {
  return all > texts.length ? [...texts, `${all - texts.length} more`] : texts;
}
