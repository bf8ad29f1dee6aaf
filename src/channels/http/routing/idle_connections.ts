import { establishedAt } from "./connection_rows.ts";

/** How often the table is read. */
const LOOK_MS = 10_000;

/** The connections of this process. */
export interface OwnConnections {
  /** The system's table of TCP connections in the format of /proc/net/tcp. */
  readonly read: () => Promise<string>;
  /** Ends connections by the inodes of their sockets; nothing before the table was read. */
  readonly end: (inodes: ReadonlySet<string>) => void;
}

export interface IdleLimits {
  /** For the first request of a connection to arrive whole, without its body. */
  readonly headMs: number;
  /** For the next one. */
  readonly idleMs: number;
}

interface Seen {
  /** When it was first seen, or when its last request ended. */
  readonly since: number;
  readonly asked: boolean;
}

/** Ends connections on which no request is answered for too long: the runtime's server waits for the rest of a request's
 * head forever, and tells of a request only once its head is whole. */
export class IdleConnections {
  readonly #port: number;
  readonly #own: OwnConnections;
  readonly #limits: IdleLimits;
  readonly #now: () => number;
  /** By the client's port. Two machines may use the same one: a request of either keeps both. */
  readonly #seen = new Map<number, Seen>();
  readonly #running = new Map<number, number>();
  #timer: ReturnType<typeof setInterval> | null = null;

  /** `port`: where the server listens; `now` must be monotonic. */
  constructor(
    port: number,
    { own, limits, now = () => performance.now() }: {
      readonly own: OwnConnections;
      readonly limits: IdleLimits;
      readonly now?: () => number;
    },
  ) {
    this.#port = port;
    this.#own = own;
    this.#limits = limits;
    this.#now = now;
  }

  /** Looks from time to time until it is stopped. */
  start(): void {
    const everyMs = Math.min(LOOK_MS, this.#limits.headMs);
    this.#timer ??= setInterval(() => void this.look().catch(() => {}), everyMs);
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** A request of the client at this port has begun; the returned function is called when it is answered. */
  begin(client: number): () => void {
    this.#running.set(client, (this.#running.get(client) ?? 0) + 1);
    return () => {
      const left = (this.#running.get(client) ?? 1) - 1;
      if (left > 0) return void this.#running.set(client, left);
      this.#running.delete(client);
      this.#seen.set(client, { since: this.#now(), asked: true });
    };
  }

  /** Reads the table once and ends what has been idle for too long. */
  async look(): Promise<void> {
    const rows = establishedAt(await this.#own.read(), this.#port);
    const now = this.#now();
    for (const client of this.#seen.keys()) if (!rows.has(client)) this.#seen.delete(client);
    const late = new Set<string>();
    for (const [client, inodes] of rows) {
      if (this.#running.has(client)) continue;
      const known = this.#seen.get(client) ?? { since: now, asked: false };
      this.#seen.set(client, known);
      const limit = known.asked ? this.#limits.idleMs : this.#limits.headMs;
      if (now - known.since >= limit) inodes.forEach((inode) => late.add(inode));
    }
    if (late.size > 0) this.#own.end(late);
  }
}
