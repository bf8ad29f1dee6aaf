import { ConfigError, messageOf } from "../../domain/errors.ts";
import { REAL_CLOCK } from "../../domain/kit/concurrency.ts";

const PAUSES_MS = [0, 1, 5, 20, 100, 500, 1_000];

interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  readonly answer: Deno.ServeHandler<Deno.NetAddr>;
  readonly failed: (why: string) => void;
}

/** `Deno.serve` ends if the process runs out of file descriptors, so the listener then serves the same port again. */
export class Listener {
  readonly #options: ListenerOptions;
  readonly port: number;
  #now: { readonly server: Deno.HttpServer<Deno.NetAddr>; readonly abort: AbortController } | null = null;
  #closed = false;

  constructor(options: ListenerOptions) {
    this.#options = options;
    try {
      this.port = this.#listen(options.port);
    } catch (error) {
      const { host, port } = options;
      const shown = host.includes(":") ? `[${host}]` : host;
      throw new ConfigError(`Cannot listen on ${shown}:${port}: ${whyNot(error, port)}`);
    }
  }

  /** With `late`, lets responses finish until `late` resolves. */
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
    this.#now = null;
    if (this.#closed) return;
    // `shutdown` resolves only after the last response, so the listener does not wait for it.
    void failed.shutdown().catch(() => {});
    this.#options.failed(why);
    for (let tries = 0;; tries++) {
      await REAL_CLOCK.sleep(PAUSES_MS[tries] ?? PAUSES_MS.at(-1) ?? 0);
      if (this.#closed) return;
      try {
        return void this.#listen(this.port);
      } catch {
        // The previous server or another program may still hold the port.
      }
    }
  }
}

function whyNot(error: unknown, port: number): string {
  if (error instanceof Deno.errors.AddrInUse) {
    return "the port is in use; choose another port, or 0 for a free one";
  }
  if (error instanceof Deno.errors.AddrNotAvailable) {
    return "this machine does not have this address; use 127.0.0.1 for local access";
  }
  if (error instanceof Deno.errors.PermissionDenied) {
    return `the system denied permission; choose ${port < 1024 ? "a port above 1023" : "another port"}`;
  }
  return messageOf(error);
}

const ESTABLISHED = "01", CLOSE_WAIT = "08";
const LEFT_MS = 500, IDLE_MS = 10_000;

export type Leaving = (gone: () => void) => () => void;

export interface OwnConnections {
  readonly read: () => Promise<string>;
  readonly end: (inodes: ReadonlySet<string>) => void;
  readonly missesLeaving: boolean;
}

export interface IdleLimits {
  readonly headMs: number;
  readonly idleMs: number;
}

interface Row {
  readonly state: string;
  readonly inode: string;
}

interface Seen {
  readonly since: number;
  readonly asked: boolean;
}

interface Watched {
  readonly client: number;
  readonly gone: () => void;
}

/** The runtime does not report every client that leaves, so Vis reads the system's table of connections. Vis
 * identifies a client only by its port, so clients of two addresses with the same port share their rows. */
export class Connections {
  readonly #port: number;
  readonly #own: OwnConnections | null;
  readonly #limits: IdleLimits;
  readonly #now: () => number;
  readonly #seen = new Map<number, Seen>();
  readonly #running = new Map<number, number>();
  readonly #watched = new Set<Watched>();
  #idleTimer: ReturnType<typeof setInterval> | undefined;
  #leftTimer: ReturnType<typeof setInterval> | undefined;

  /** `now` must be monotonic. */
  constructor(
    port: number,
    { own, limits, now = () => performance.now() }: {
      readonly own: OwnConnections | null;
      readonly limits: IdleLimits;
      readonly now?: () => number;
    },
  ) {
    this.#port = port;
    this.#own = own;
    this.#limits = limits;
    this.#now = now;
  }

  start(): void {
    if (this.#own) {
      this.#idleTimer ??= setInterval(() => void this.look(), Math.min(IDLE_MS, this.#limits.headMs));
    }
  }

  stop(): void {
    clearInterval(this.#idleTimer);
  }

  begin(client: number): () => void {
    this.#running.set(client, (this.#running.get(client) ?? 0) + 1);
    return () => {
      const left = (this.#running.get(client) ?? 1) - 1;
      if (left > 0) return void this.#running.set(client, left);
      this.#running.delete(client);
      if (this.#own) this.#seen.set(client, { since: this.#now(), asked: true });
    };
  }

  /** The caller calls `leaving` as soon as it has the request: a signal that is first read after the client left stays
   * silent. */
  leaving({ signal }: Request, client: number): Leaving {
    return (gone) => {
      signal.addEventListener("abort", gone);
      const forget = this.#own?.missesLeaving ? this.watch(client, gone) : () => {};
      if (signal.aborted) gone();
      return () => {
        signal.removeEventListener("abort", gone);
        forget();
      };
    };
  }

  watch(client: number, gone: () => void): () => void {
    const watched = { client, gone };
    this.#watched.add(watched);
    this.#leftTimer ??= setInterval(() => void this.look(), LEFT_MS);
    return () => this.#forget(watched);
  }

  async look(): Promise<void> {
    const text = await this.#own?.read().catch(() => null) ?? null;
    if (text === null) return;
    const rows = rowsAt(text, this.#port);
    this.#findLeft(rows);
    this.#endIdle(rows);
  }

  #findLeft(rows: ReadonlyMap<number, readonly Row[]>): void {
    for (const watched of [...this.#watched]) {
      const states = rows.get(watched.client)?.map(({ state }) => state) ?? [];
      if (!states.includes(CLOSE_WAIT) || states.includes(ESTABLISHED)) continue;
      this.#forget(watched);
      watched.gone();
    }
  }

  #endIdle(rows: ReadonlyMap<number, readonly Row[]>): void {
    const now = this.#now();
    const late = new Set<string>();
    for (const client of new Set([...rows.keys(), ...this.#seen.keys()])) {
      const open = rows.get(client)?.filter(({ state, inode }) => state === ESTABLISHED && inode !== "0") ?? [];
      if (open.length === 0) this.#seen.delete(client);
      if (open.length === 0 || this.#running.has(client)) continue;
      const known = this.#seen.get(client) ?? { since: now, asked: false };
      this.#seen.set(client, known);
      const limit = known.asked ? this.#limits.idleMs : this.#limits.headMs;
      if (now - known.since >= limit) open.forEach(({ inode }) => late.add(inode));
    }
    if (late.size > 0) this.#own?.end(late);
  }

  #forget(watched: Watched): void {
    this.#watched.delete(watched);
    if (this.#watched.size > 0) return;
    clearInterval(this.#leftTimer);
    this.#leftTimer = undefined;
  }
}

function rowsAt(text: string, port: number): ReadonlyMap<number, readonly Row[]> {
  const local = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const rows = new Map<number, Row[]>();
  for (const line of text.split("\n")) {
    const [, at = "", from = "", state = "", , , , , , inode = "0"] = line.trim().split(/\s+/, 10);
    if (!at.endsWith(local)) continue;
    const client = Number.parseInt(from.slice(from.lastIndexOf(":") + 1), 16);
    rows.set(client, [...rows.get(client) ?? [], { state, inode }]);
  }
  return rows;
}
