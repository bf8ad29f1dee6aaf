import { type Hit, LineMatcher, LineScanner, type MatchOptions } from "./line_scanner.ts";

export interface SearchPiece {
  readonly path: string;
  readonly text: string;
  readonly last: boolean;
}

export type SearchOrder =
  | {
    readonly type: "begin";
    readonly pattern: string;
    readonly options: MatchOptions;
    readonly context: number;
    readonly most: number;
  }
  | { readonly type: "pieces"; readonly pieces: readonly SearchPiece[] };

export type SearchReply = readonly FileHits[];

interface FileHits {
  readonly path: string;
  readonly hits: readonly Hit[];
  readonly more: number;
}

const NO_PACE = { due: false, rest: () => Promise.resolve() };

class Search {
  #matcher: LineMatcher | null = null;
  #earlier: Promise<unknown> = Promise.resolve();
  #context = 0;
  #most = 0;
  #scanner: LineScanner | null = null;
  #found: { hits: FileHits["hits"][number][]; more: number } = { hits: [], more: 0 };

  take(order: SearchOrder): Promise<SearchReply | null> {
    const reply = this.#earlier.then(() => this.#take(order));
    this.#earlier = reply;
    return reply;
  }

  async #take(order: SearchOrder): Promise<SearchReply | null> {
    if (order.type === "begin") {
      this.#matcher = new LineMatcher(order.pattern, order.options);
      this.#context = order.context;
      this.#most = order.most;
      this.#scanner = null;
      return null;
    }
    const found: FileHits[] = [];
    for (const piece of order.pieces) {
      const file = await this.#search(piece);
      if (file !== null) found.push(file);
    }
    return found;
  }

  async #search({ path, text, last }: SearchPiece): Promise<FileHits | null> {
    const scanner = this.#scanner ??= this.#scannerOf(path);
    await scanner.push(text, NO_PACE);
    if (!last) return null;
    const found = this.#found;
    this.#scanner = null;
    if (found.hits.length === 0) return null;
    this.#found = { hits: [], more: 0 };
    return { path, ...found };
  }

  #scannerOf(path: string): LineScanner {
    const matcher = this.#matcher;
    if (!matcher) throw new TypeError("Cannot search: the worker received no pattern");
    return new LineScanner({
      path,
      matcher,
      context: this.#context,
      onHit: (hit) => {
        if (this.#found.hits.length < this.#most) this.#found.hits.push(hit);
        else this.#found.more++;
        return true;
      },
    });
  }
}

interface WorkerPort {
  onmessage: ((event: MessageEvent<SearchOrder>) => void) | null;
  postMessage(reply: SearchReply): void;
}

const search = new Search();
const port = globalThis as unknown as WorkerPort;
port.onmessage = ({ data }) => void search.take(data).then((reply) => reply && port.postMessage(reply));
