import pc from "picocolors";
import { visibleText } from "../../../domain/kit/text.ts";
import { isChild } from "../../../domain/query/query_event.ts";
import type { QueryEvent } from "../../../domain/query/query_schemas.ts";
import type { Io } from "../../channel.ts";

/** Adds the details of `--trace` to a query's progress on stderr: thinking, calls of blocks, tokens and time of each
 * iteration, nudges. `line` writes one line. */
export class Trace {
  readonly #color: ReturnType<typeof pc.createColors>;
  readonly #line: (text: string) => void;
  #thinking = "";

  constructor(io: Pick<Io, "stderrColor">, line: (text: string) => void) {
    this.#color = pc.createColors(io.stderrColor);
    this.#line = line;
  }

  show(event: QueryEvent): void {
    if (event.type === "thinking") {
      this.#thinking += event.delta;
      return;
    }
    this.#flush();
    const at = `${isChild(event) ? "↳ " : ""}[${event.iteration ?? 0}]`;
    switch (event.type) {
      case "host_call":
        if (event.phase === "end") {
          const outcome = event.outcome ? ` · ${event.outcome}` : "";
          this.#say(`    ${event.name} ${event.ok ? "✓" : "✗"} ${Math.round(event.ms ?? 0)} ms${outcome}`);
        }
        return;
      case "nudge":
        for (const line of event.lines) this.#say(`${at} nudge: ${line}`);
        return;
      case "usage":
        return this.#say(`${at} ${event.usage.input} in + ${event.usage.output} out tokens`);
      case "iteration_finished":
        return this.#say(`${at} ${event.outcome} after ${Math.round(event.ms)} ms`);
      default:
        return;
    }
  }

  /** Thinking is written whole, before what follows it. */
  #flush(): void {
    const text = this.#thinking.trim();
    this.#thinking = "";
    if (text !== "") { for (const line of text.split("\n")) this.#say(`~ ${line}`); }
  }

  #say(text: string): void {
    this.#line(this.#color.dim(visibleText(text)));
  }
}
