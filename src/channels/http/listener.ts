import { ConfigError, messageOf } from "../../domain/errors.ts";
import { REAL_CLOCK } from "../../domain/kit/time.ts";

/** Pauses between attempts to listen again; the last one repeats. */
const PAUSES_MS = [0, 1, 5, 20, 100, 500, 1_000];

export interface ListenerOptions {
  readonly host: string;
  /** 0 picks a free port and keeps it. */
  readonly port: number;
  readonly answer: Deno.ServeHandler<Deno.NetAddr>;
  /** No connection could be accepted; `why` is the system's reason. It listens again at once. */
  readonly failed: (why: string) => void;
}

/** Accepts connections until it is closed. If the process runs out of file descriptors, it drops connections that have
 * not sent a whole request, keeps answering the others, and listens again; `Deno.serve` alone would end, and the
 * process with it. Deno 2.6 reports the end only once all connections are closed. */
export class Listener {
  readonly #options: ListenerOptions;
  readonly port: number;
  #now: { readonly server: Deno.HttpServer<Deno.NetAddr>; readonly abort: AbortController } | null = null;
  #closed = false;

  /** Throws `ConfigError` if the address is unavailable. */
  constructor(options: ListenerOptions) {
    this.#options = options;
    try {
      this.port = this.#listen(options.port);
    } catch (error) {
      throw new ConfigError(`Cannot listen on ${options.host}:${options.port}: ${whyNot(error)}`);
    }
  }

  /** Ends every connection; answers on connections from before a failed accept may continue. Without `late` it ends
   * them at once; with it, answers that are not fully sent are sent first, until `late` resolves. */
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
    this.#now = null; // a server that shuts down accepts no abort
    if (this.#closed) return;
    // Stops reading at once; resolves when the last answer is sent, which may take long.
    void failed.shutdown().catch(() => {});
    this.#options.failed(why);
    for (let tries = 0;; tries++) {
      await REAL_CLOCK.sleep(PAUSES_MS[tries] ?? PAUSES_MS.at(-1) ?? 0);
      if (this.#closed) return;
      try {
        return void this.#listen(this.port);
      } catch {
        // The previous server holds the address a moment longer, or another program for any time.
      }
    }
  }
}

function whyNot(error: unknown): string {
  if (error instanceof Deno.errors.AddrInUse) {
    return "the port is in use; choose another one, or 0 for a free one";
  }
  if (error instanceof Deno.errors.AddrNotAvailable) {
    return "this machine does not have this address; use 127.0.0.1 for local access";
  }
  if (error instanceof Deno.errors.PermissionDenied) return "permission denied; choose a port above 1023";
  return messageOf(error);
}
