import { dirname } from "node:path";
import { replaceFile } from "../../../domain/kit/files.ts";

const KEPT = 300;
const MOST_CHARS = 10_000;

/** No method rejects, because an unusable history must not stop the user. */
export class InputHistory {
  readonly #path: string;
  #writing: Promise<void> = Promise.resolve();

  constructor(path: string) {
    this.#path = path;
  }

  static async at(home: string | null, workspace: string): Promise<InputHistory | null> {
    if (home === null) return null;
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(workspace));
    const name = new Uint8Array(digest, 0, 8).toHex();
    return new InputHistory(`${home}/history/${name}.jsonl`);
  }

  async read(): Promise<readonly string[]> {
    const text = await Deno.readTextFile(this.#path).catch(() => "");
    const lines = text.split("\n").filter((line) => line !== "");
    const texts = [...new Set(lines.map(textOf).filter((one) => one !== "").reverse())].slice(0, KEPT).reverse();
    if (lines.length > 2 * KEPT) this.#write(() => this.#replace(texts));
    return texts;
  }

  add(text: string): void {
    if (text.length > MOST_CHARS) return;
    this.#write(async () => {
      await Deno.mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
      await Deno.writeTextFile(this.#path, `${JSON.stringify(text)}\n`, { append: true, mode: 0o600 });
    });
  }

  async settled(): Promise<void> {
    await this.#writing;
  }

  #write(work: () => Promise<void>): void {
    this.#writing = this.#writing.then(work).catch(() => {});
  }

  #replace(texts: readonly string[]): Promise<void> {
    return replaceFile(this.#path, texts.map((text) => `${JSON.stringify(text)}\n`).join(""));
  }
}

function textOf(line: string): string {
  try {
    const text: unknown = JSON.parse(line);
    return typeof text === "string" ? text : "";
  } catch {
    return "";
  }
}
