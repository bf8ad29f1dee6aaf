import { oneLine } from "../../domain/clip.ts";
import type { QueryEvent } from "../../domain/query_event.ts";
import { retryLine } from "../../domain/retry_line.ts";
import { visibleText } from "../../domain/visible_text.ts";

const SHOWN_CHARS = 3_000;

/** What a chat sees of a query while it runs. Events of child queries are left out. */
export class ProgressView {
  readonly #started: number;
  #queryId: string | null = null;
  #iteration = 1;
  #thinking = "";
  #doing = "";
  #answer = "";

  constructor(started: number) {
    this.#started = started;
  }

  /** Null before it has begun. */
  get queryId(): string | null {
    return this.#queryId;
  }

  add(event: QueryEvent): void {
    if (event.parentQueryId !== undefined) return;
    if (event.type === "started") this.#queryId = event.queryId;
    if (event.iteration !== null && event.iteration !== this.#iteration) {
      this.#iteration = event.iteration;
      this.#thinking = "";
      this.#answer = "";
    }
    if (event.type === "thinking") {
      this.#thinking = (this.#thinking + event.delta).slice(0, SHOWN_CHARS);
      this.#doing = "";
    } else if (event.type === "answer_delta") this.#answer += event.delta;
    else if (event.type === "block_started") this.#doing = firstLine(event.code);
    else if (event.type === "host_call" && event.phase === "start") this.#doing = `${event.name}()`;
    else if (event.type === "retrying") this.#doing = oneLine(visibleText(retryLine(event)), 300);
    else if (event.type === "iteration_finished") this.#doing = "";
  }

  text(now: number): string {
    const head = `⏳ iteration ${this.#iteration} · ${Math.round((now - this.#started) / 1000)} s`;
    if (this.#answer !== "") return `${head}\n\n${tail(visibleText(this.#answer))}`;
    const lines = [oneLine(visibleText(this.#thinking), 300), this.#doing === "" ? "" : `▸ ${this.#doing}`];
    return [head, ...lines.filter((line) => line !== "")].join("\n").toWellFormed();
  }
}

function firstLine(code: string): string {
  return oneLine(visibleText(code.split("\n").find((line) => line.trim() !== "") ?? ""), 120);
}

/** The end of what is being written. */
function tail(text: string): string {
  if (text.length <= SHOWN_CHARS) return text.toWellFormed();
  return `…${text.slice(-SHOWN_CHARS).replace(/^[\udc00-\udfff]/, "")}`.toWellFormed();
}
