import type { Store } from "../../src/persistence/store.ts";
import { encode } from "../../src/sandbox/codec/codec.ts";
import {
  begun,
  block,
  image,
  iterationEnd,
  newIteration,
  newQuery,
  queryEnd,
} from "../../tests/conformance/store/fixtures.ts";

const PROMPT = "You are Vis, and these are your rules. ".repeat(150);
const PER_QUERY = 50;
const NAMES = 100;
const HOT = 4;

export class LargeConversation {
  readonly branchId: string;
  readonly #store: Store;
  #queryId: string;
  #count = 0;

  protected constructor(store: Store, ids: { readonly branchId: string; readonly queryId: string }) {
    this.#store = store;
    this.branchId = ids.branchId;
    this.#queryId = ids.queryId;
  }

  static async begin(store: Store): Promise<LargeConversation> {
    return new LargeConversation(store, await begun(store, { text: "read every part" }));
  }

  async iterate(): Promise<void> {
    const n = this.#count++;
    const label = String(n).padStart(6, "0");
    const position = n % PER_QUERY;
    if (n > 0 && position === 0) await this.#next(n);
    // The texts are unique, because the store keeps a text that two conversations share only once.
    const text = `line of ${label}: ${this.branchId.slice(-12)} `.repeat(40);
    const name = `part${n % 5 === 0 ? n / 5 % NAMES : n % HOT}`;
    const code = `${name} = await fs.readFile("part-${n}.txt") // needle${n}`;
    const id = await this.#store.beginIteration(
      newIteration(this.#queryId, position, {
        systemPrompt: PROMPT,
        blocks: [code],
        userPrompt: JSON.stringify([{ role: "user", content: `journal of ${label}: ${text}` }]),
        response: JSON.stringify({ code: [code] }),
        thinking: `Part ${label} comes next`,
      }),
    );
    const source = `function use${n % NAMES}() { return ${name}.length + ${n} }`;
    const saved = [
      image(name, { bytes: encode(text) }),
      ...(n % 10 === 0 ? [image(`use${n % NAMES}`, { kind: "function", source, requires: [name] })] : []),
    ];
    await this.#store.endIteration(
      id,
      iterationEnd([block(code, { reads: [`part${(n + 1) % HOT}`], saved, result: { preview: text } })], {
        system: [{ name: "$reasoning", text: `Part ${label} comes next` }],
      }),
    );
  }

  async end(): Promise<void> {
    await this.#store.endQuery(this.#queryId, queryEnd({ answer: `read ${this.#count} parts` }));
  }

  async #next(n: number): Promise<void> {
    await this.end();
    this.#queryId = await this.#store.beginQuery(newQuery(this.branchId, `go on with part ${n}`));
  }
}
