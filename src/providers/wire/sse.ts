/** Characters of one event. The largest event repeats a whole reply, with its characters escaped. */
const MAX_EVENT = 8_000_000;

/** The `data` of server-sent events (WHATWG HTML, 9.2.6). Events that arrived together are in one list, wherever the
 * bytes and line ends (LF, CR LF, CR) are split. Comments, names and ids are skipped. Throws `RangeError` for an event
 * or a line that is larger than any model's. */
export async function* sse(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<readonly string[]> {
  const decoder = new TextDecoder();
  const lines = new Lines();
  let data: string[] = [];
  let length = 0;
  const take = (some: Iterable<string>): readonly string[] => {
    const events: string[] = [];
    for (const line of some) {
      if (line === "") {
        if (data.length > 0) events.push(data.join("\n"));
        data = [];
        length = 0;
      } else if (line === "data") data.push("");
      else if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5));
      length = checked(length + line.length);
    }
    return events;
  };
  for await (const chunk of bytes) {
    const events = take(lines.add(decoder.decode(chunk, { stream: true })));
    if (events.length > 0) yield events;
  }
  // Some servers omit the empty line after the last event.
  const events = take([...lines.rest(decoder.decode()), ""]);
  if (events.length > 0) yield events;
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
