const ESTABLISHED = "01";
/** The client has closed its end. */
const CLOSE_WAIT = "08";
const LOOK_MS = 500;

interface Watched {
  /** Of the client. */
  readonly port: number;
  readonly gone: () => void;
}

/** Notices clients that close their connection while they wait for an answer, in the system's table of connections. The
 * signal of a request tells of them, but in newer runtimes not where its body came after its head. */
export class Departures {
  readonly #port: number;
  readonly #read: () => Promise<string>;
  readonly #watched = new Set<Watched>();
  #timer: ReturnType<typeof setInterval> | null = null;

  /** `port`: where the server listens; `read` gives the table as /proc/net/tcp has it. */
  constructor(port: number, read: () => Promise<string>) {
    this.#port = port;
    this.#read = read;
  }

  /** Calls `gone` once the client at this port has closed its end; the result ends the watch. */
  watch(port: number, gone: () => void): () => void {
    const watched = { port, gone };
    this.#watched.add(watched);
    this.#timer ??= setInterval(() => void this.look(), LOOK_MS);
    return () => this.#forget(watched);
  }

  /** Reads the table once. What it does not say, or what cannot be read, says nothing of anybody. */
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

/** Ports of clients of this port, with the states of their connections: two machines may use the same one. */
function statesOf(text: string, port: number): ReadonlyMap<number, ReadonlySet<string>> {
  const local = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const states = new Map<number, Set<string>>();
  for (const line of text.split("\n")) {
    const [, at = "", from = "", state = ""] = line.trim().split(/\s+/, 4);
    if (!at.endsWith(local)) continue;
    const client = Number.parseInt(from.slice(from.lastIndexOf(":") + 1), 16);
    states.set(client, (states.get(client) ?? new Set()).add(state));
  }
  return states;
}
