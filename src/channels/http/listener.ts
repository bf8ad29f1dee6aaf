import { REAL_CLOCK } from "../../domain/kit/clock.ts";
import { ConfigError } from "../../domain/errors.ts";
import { messageOf } from "../../domain/kit/message_of.ts";

/** Between tries to have an address again; the last one goes on. */
const PAUSES_MS = [0, 1, 5, 20, 100, 500, 1_000];

export interface ListenerOptions {
  readonly host: string;
  /** 0 takes one that is free, and keeps it. */
  readonly port: number;
  readonly answer: Deno.ServeHandler<Deno.NetAddr>;
  /** No connection could be taken, for which `why` is the reason of the system; it listens again at once. */
  readonly failed: (why: string) => void;
}

/** Takes connections until it is closed. Where the process has no file descriptor left for another one, those that have
 * sent no whole request yet are dropped, requests that are being answered go on, and it listens again: by itself
 * `Deno.serve` would end there, and the process with it. Deno 2.6 tells of the end only once all connections are closed. */
export class Listener {
  readonly #options: ListenerOptions;
  readonly port: number;
  #now: { readonly server: Deno.HttpServer<Deno.NetAddr>; readonly abort: AbortController } | null = null;
  #closed = false;

  /** Throws `ConfigError` where the address cannot be had. */
  constructor(options: ListenerOptions) {
    this.#options = options;
    try {
      this.port = this.#listen(options.port);
    } catch (error) {
      throw new ConfigError(`Cannot listen on ${options.host}:${options.port}: ${whyNot(error)}`);
    }
  }

  /** Ends every connection; answers on connections that were there when one could not be taken may continue. Without
   * `late` at once; with it, what was answered but not yet sent is sent first, until `late` resolves. */
  async close(late: Promise<unknown> | null = null): Promise<void> {
    this.#closed = true;
    if (this.#now === null) return;
    const { server, abort } = this.#now;
    if (late === null) abort.abort();
    const ended = late === null ? [server.finished] : [server.shutdown(), late];
    await Promise.race(ended).catch(() => {});
  }

  #listen(port: number): number {
    const { host: hostname, answer } = this.#options;
    const abort = new AbortController();
    const onError = () => new Response(null, { status: 500 });
    const server = Deno.serve({ hostname, port, signal: abort.signal, onListen: () => {}, onError }, answer);
    this.#now = { server, abort };
    void server.finished.catch((error: unknown) => this.#again(server, messageOf(error)));
    return server.addr.port;
  }

  async #again(failed: Deno.HttpServer, why: string): Promise<void> {
    this.#now = null; // what is shut down takes no abort any more
    if (this.#closed) return;
    // Reads no more at once; resolves when the last answer is sent, which may be long.
    void failed.shutdown().catch(() => {});
    this.#options.failed(why);
    for (let tries = 0;; tries++) {
      await REAL_CLOCK.sleep(PAUSES_MS[tries] ?? PAUSES_MS.at(-1) ?? 0);
      if (this.#closed) return;
      try {
        return void this.#listen(this.port);
      } catch {
        // The one before has the address for a moment longer, or another program for as long as it likes.
      }
    }
  }
}

function whyNot(error: unknown): string {
  if (error instanceof Deno.errors.AddrInUse) {
    return "another program listens there; choose another port, or 0 for a free one";
  }
  if (error instanceof Deno.errors.AddrNotAvailable) {
    return "this machine has no such address; 127.0.0.1 is always there";
  }
  if (error instanceof Deno.errors.PermissionDenied) return "access is denied; choose a port above 1023";
  return messageOf(error);
}
