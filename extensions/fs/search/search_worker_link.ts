import { clearTimeout, setTimeout } from "node:timers";
import type { SearchOrder, SearchReply } from "./search_order.ts";

const IDLE_MS = 30_000;

interface Waiting {
  readonly resolve: (reply: SearchReply) => void;
  readonly reject: (reason: unknown) => void;
}

/** A worker busy with one search. Disposing of the link releases the worker, or ends it if it has not answered. */
export class SearchWorkerLink implements Disposable {
  static #idle: { readonly worker: Worker; readonly timer: ReturnType<typeof setTimeout> } | null = null;

  readonly #worker = SearchWorkerLink.#take();
  readonly #signal: AbortSignal | undefined;
  readonly #waiting: Waiting[] = [];
  readonly #stop = (): void => this.#fail(this.#signal?.reason);
  /** Why it ended; null while it is running. */
  #ended: { readonly reason: unknown } | null = null;

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
    signal?.addEventListener("abort", this.#stop, { once: true });
    this.#worker.onmessage = ({ data }: MessageEvent<SearchReply>) => this.#waiting.shift()?.resolve(data);
    this.#worker.onerror = (event) => {
      event.preventDefault();
      this.#fail(new Error(`Cannot search: ${event.message}`));
    };
    if (signal?.aborted) this.#stop();
  }

  /** Starts a search; there is no answer. */
  begin(order: SearchOrder & { readonly type: "begin" }): void {
    if (!this.#ended) this.#worker.postMessage(order);
  }

  /** Answers arrive in the order of the messages. When the signal aborts, it rejects with the signal's reason and ends
   * the worker, however busy it is. */
  send(order: SearchOrder & { readonly type: "pieces" }): Promise<SearchReply> {
    const { promise, resolve, reject } = Promise.withResolvers<SearchReply>();
    if (this.#ended) reject(this.#ended.reason);
    else {
      this.#waiting.push({ resolve, reject });
      this.#worker.postMessage(order);
    }
    return promise;
  }

  [Symbol.dispose](): void {
    this.#signal?.removeEventListener("abort", this.#stop);
    if (this.#ended) return;
    if (SearchWorkerLink.#idle || this.#waiting.length > 0) return this.#worker.terminate();
    const worker = this.#worker;
    const timer = setTimeout(SearchWorkerLink.endIdle, IDLE_MS);
    timer.unref();
    SearchWorkerLink.#idle = { worker, timer };
  }

  /** Ends the worker that is idle. */
  static endIdle(this: void): void {
    const idle = SearchWorkerLink.#idle;
    if (!idle) return;
    SearchWorkerLink.#idle = null;
    clearTimeout(idle.timer);
    idle.worker.terminate();
  }

  static #take(): Worker {
    const idle = SearchWorkerLink.#idle;
    if (!idle) return startWorker();
    SearchWorkerLink.#idle = null;
    clearTimeout(idle.timer);
    return idle.worker;
  }

  #fail(reason: unknown): void {
    if (this.#ended) return;
    this.#ended = { reason };
    this.#worker.terminate();
    for (const { reject } of this.#waiting.splice(0)) reject(reason);
  }
}

/** From source it is a separate module; in the executable it is beside the chunk that contains this code. */
function startWorker(): Worker {
  const file = import.meta.url.endsWith(".ts") ? "./search_worker.ts" : "./search_worker.js";
  return new Worker(new URL(file, import.meta.url), { type: "module", deno: { permissions: "none" } });
}
