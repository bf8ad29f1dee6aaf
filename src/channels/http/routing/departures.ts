import { rowsAt } from "./connection_rows.ts";

const ESTABLISHED = "01";
/** The client has closed its end. */
const CLOSE_WAIT = "08";
const LOOK_MS = 500;

interface Watched {
  /** The client's port. */
  readonly port: number;
  readonly gone: () => void;
}

/** Detects clients that close their connection while they wait for an answer, from the system's table of connections. A
 * request's signal also reports them, but in newer runtimes not if the body arrived after the headers. */
export class Departures {
  readonly #port: number;
  readonly #read: () => Promise<string>;
  readonly #watched = new Set<Watched>();
  #timer: ReturnType<typeof setInterval> | null = null;

  /** `port`: where the server listens; `read` returns the table in the format of /proc/net/tcp. */
  constructor(port: number, read: () => Promise<string>) {
    this.#port = port;
    this.#read = read;
  }

  /** Calls `gone` once the client at this port has closed its end; the returned function stops watching. */
  watch(port: number, gone: () => void): () => void {
    const watched = { port, gone };
    this.#watched.add(watched);
    this.#timer ??= setInterval(() => void this.look(), LOOK_MS);
    return () => this.#forget(watched);
  }

  /** Reads the table once. A missing entry or an unreadable table is no evidence that a client left. */
  async look(): Promise<void> {
    const states = statesOf(await this.#read().catch(() => ""), this.#port);
    for (const watched of [...this.#watched]) {
      const found = states.get(watched.port);
      if (!found?.has(CLOSE_WAIT) || found.has(ESTABLISHED)) continue;
      this.#forget(watched);
      watched.gone();
    }
  }

  #forget(watched: Watched): void {
    this.#watched.delete(watched);
    if (this.#watched.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }
}

/** Client ports with the states of their connections: two machines may use the same port. */
function statesOf(text: string, port: number): ReadonlyMap<number, ReadonlySet<string>> {
  const states = new Map<number, Set<string>>();
  for (const { client, state } of rowsAt(text, port)) {
    states.set(client, (states.get(client) ?? new Set()).add(state));
  }
  return states;
}
