/** The worker for patterns that would block the main loop for too long. It has no permissions and sees only the text of
 * files. */
import { LineMatcher } from "./line_matcher.ts";
import { LineScanner } from "./line_scanner.ts";
import type { SearchOrder, SearchReply } from "./search_order.ts";

const NOTHING: SearchReply = { hits: [], more: 0 };
const NO_PACE = { due: false, rest: () => Promise.resolve() };

/** One search, whose pieces arrive in order. */
class Search {
  #matcher: LineMatcher | null = null;
  #context = 0;
  #most = 0;
  #scanner: LineScanner | null = null;
  #decoder = new TextDecoder();
  #reply: { hits: SearchReply["hits"][number][]; more: number } = { hits: [], more: 0 };

  async take(order: SearchOrder): Promise<SearchReply | null> {
    if (order.type === "begin") {
      this.#matcher = new LineMatcher(order.pattern, order.options);
      this.#context = order.context;
      this.#most = order.most;
      this.#scanner = null;
      return null;
    }
    const scanner = this.#scanner ??= this.#scannerOf(order.path);
    await scanner.push(this.#decoder.decode(order.bytes, { stream: !order.last }), NO_PACE);
    if (!order.last) return NOTHING;
    const reply = this.#reply;
    this.#scanner = null;
    this.#decoder = new TextDecoder();
    this.#reply = { hits: [], more: 0 };
    return reply;
  }

  #scannerOf(path: string): LineScanner {
    const matcher = this.#matcher;
    if (!matcher) throw new TypeError("Cannot search: no pattern was sent");
    return new LineScanner({
      path,
      matcher,
      context: this.#context,
      onHit: (hit) => {
        if (this.#reply.hits.length < this.#most) this.#reply.hits.push(hit);
        else this.#reply.more++;
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
port.onmessage = (event) => void search.take(event.data).then((reply) => reply && port.postMessage(reply));
