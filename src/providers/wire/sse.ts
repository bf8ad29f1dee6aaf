import { readLaxJson } from "../../domain/kit/json.ts";
import { isError } from "./_failures.ts";

/** Characters of one event. The largest event repeats a whole reply, with its characters escaped. */
const MAX_EVENT = 8_000_000;

/** Names that begin a line of an event; "" begins a comment. */
const FIELDS = new Set(["", "data", "event", "id", "retry", "error"]);

/** The `data` of server-sent events (WHATWG HTML, 9.2.6), as text, or as an object with `error` if the event says that
 * it is one. Events that arrived together are in one list, wherever the bytes and line ends (LF, CR LF, CR) are split.
 * Comments and ids are skipped. Also reads what some servers send instead: events that no empty line separates, and
 * JSON on lines of its own, and line ends inside its strings. Throws `RangeError` for an event or a line that is larger than any model's. */
export async function* sse(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<readonly unknown[]> {
  const decoder = new TextDecoder();
  const lines = new Lines();
  const open = new OpenEvent();
  const take = (some: Iterable<string>) => [...some].flatMap((line) => open.add(line));
  for await (const chunk of bytes) {
    const events = take(lines.add(decoder.decode(chunk, { stream: true })));
    if (events.length > 0) yield events;
  }
  // Some servers omit the empty line after the last event.
  const events = take([...lines.rest(decoder.decode()), ""]);
  if (events.length > 0) yield events;
}

/** The event whose lines arrive. */
class OpenEvent {
  #data: string[] = [];
  #name = "";
  #length = 0;
  /** The data so far is JSON that ends inside a string: a server wrote a line end of it as it is. */
  #isInString = false;

  /** Returns the events that this line ends. */
  add(line: string): readonly unknown[] {
    if (line === "") return this.#close();
    const isJson = line[0] === "{" || line[0] === "[";
    const colon = isJson ? -1 : line.indexOf(":");
    const field = isJson ? "data" : colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? (isJson ? line : "") : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    const ended = (field === "data" || field === "event") && this.#isWhole ? this.#close() : [];
    if (field === "data") this.#push(value);
    else if (field === "event") this.#name = value.trim();
    else if (field === "error" && value !== "") return [...this.#close(), errorIn(value)];
    else if (this.#isInString && !FIELDS.has(field)) this.#push(line);
    this.#length = checked(this.#length + line.length);
    return ended;
  }

  /** The data so far is all of an event, though no empty line follows: nothing goes on after complete JSON. */
  get #isWhole(): boolean {
    const [text = ""] = this.#data;
    if (this.#data.length !== 1) return false;
    return text.trim() === "[DONE]" || /^\s*[{[]/.test(text) && eventJson(text) !== undefined;
  }

  #push(line: string): void {
    this.#data.push(line);
    if (!/^\s*[{[]/.test(this.#data[0] ?? "")) return;
    for (const [token] of line.matchAll(/\\.|"/g)) if (token === '"') this.#isInString = !this.#isInString;
  }

  #close(): readonly unknown[] {
    const text = this.#data.join("\n");
    const last = this.#data.length > 1 ? eventJson(this.#data.at(-1) ?? "") : undefined;
    const events = this.#data.length === 0
      ? []
      // A gateway may write its error into an event that it did not finish.
      : isError(last) && eventJson(text) === undefined
      ? [last]
      : [this.#name === "error" ? errorIn(text) : text];
    this.#data = [];
    this.#name = "";
    this.#length = 0;
    this.#isInString = false;
    return events;
  }
}

/** The JSON of an event; undefined, which JSON cannot express, if it is none. */
export function eventJson(text: string): unknown {
  try {
    return readLaxJson(text);
  } catch {
    return undefined;
  }
}

/** As an object with `error`, which most services send by themselves. */
function errorIn(text: string): unknown {
  const value = eventJson(text);
  return typeof value === "object" && value !== null && "error" in value ? value : { error: value ?? text };
}

function checked(length: number): number {
  if (length > MAX_EVENT) throw new RangeError(`Cannot read an event of more than ${MAX_EVENT} characters`);
  return length;
}

/** Splits text that arrives in pieces into lines. */
class Lines {
  #open: string[] = [];
  #length = 0;
  #afterReturn = false;

  *add(text: string): Generator<string> {
    let from = 0;
    for (const { index, 0: end } of text.matchAll(/\r\n|\r|\n/g)) {
      const isRestOfReturn = this.#afterReturn && index === 0 && end === "\n";
      this.#afterReturn = false;
      if (!isRestOfReturn) yield this.#close(text.slice(from, index));
      from = index + end.length;
    }
    if (text !== "") this.#afterReturn = text.endsWith("\r");
    if (from === text.length) return;
    this.#open.push(text.slice(from));
    this.#length += text.length - from;
    checked(this.#length);
  }

  *rest(text: string): Generator<string> {
    yield* this.add(text);
    if (this.#open.length > 0) yield this.#close("");
  }

  #close(text: string): string {
    const line = this.#open.join("") + text;
    this.#open = [];
    this.#length = 0;
    return line;
  }
}
