import type { Conversation } from "../../../conversation/conversations.ts";
import type { AskOptions } from "../../../conversation/send_options.ts";
import type { Emit, QueryEvent } from "../../../domain/query/query_event.ts";
import type { QueryResult } from "../../../domain/query/query_result.ts";

/** Events of a running query that a client may still ask for. */
const KEPT_EVENTS = 1000;
/** Characters of their texts: those of the largest reply with its blocks. */
const KEPT_CHARS = 8_000_000;
/** And once it has ended; what is older is read from rows. */
const KEPT_AFTER_CHARS = 200_000;

export interface NumberedEvent {
  /** 1-based and without gaps; counts the events of child queries too. */
  readonly number: number;
  readonly event: QueryEvent;
}

/** Asks on behalf of a client, with what a run listens to. */
export type Ask = (options: Required<Pick<AskOptions, "signal" | "emit" | "onBranch">>) => Promise<QueryResult>;

/** What is known of a query from its beginning on. */
export interface Begun {
  readonly queryId: string;
  /** Of the conversation; it serves as its id. */
  readonly branchId: string;
}

/** One query that this process runs or ran: its newest events, and its end. However slowly a client reads, nothing is
 * kept for it alone. */
export class LiveRun {
  readonly #kept: NumberedEvent[] = [];
  readonly #controller = new AbortController();
  readonly #begun = Promise.withResolvers<Begun>();
  #branch: Conversation | null = null;
  #count = 0;
  #chars = 0;
  #over = false;
  #change = Promise.withResolvers<void>();
  /** Settles as `Conversations.ask` does. */
  readonly ended: Promise<QueryResult>;

  /** `onEvent` gets every event, before those who follow the run. */
  constructor(ask: Ask, onEvent: Emit = () => {}) {
    const onBranch = (branch: Conversation): void => void (this.#branch = branch);
    const emit = (event: QueryEvent): void => {
      onEvent(event);
      this.#add(event);
    };
    this.ended = ask({ signal: this.#controller.signal, emit, onBranch });
    this.ended.then(() => this.#end(), (error: unknown) => {
      this.#begun.reject(error);
      this.#end();
    });
    this.#begun.promise.catch(() => {});
  }

  /** Resolves at the first event; rejects as `ended` where nothing was begun. */
  get begun(): Promise<Begun> {
    return this.#begun.promise;
  }

  /** Null until it is known, or made. */
  get conversationId(): string | null {
    return this.#branch?.conversationId ?? null;
  }

  get running(): boolean {
    return !this.#over;
  }

  /** The number of the oldest event that is left; one more than the newest where there is none. */
  get oldest(): number {
    return this.#kept[0]?.number ?? this.#count + 1;
  }

  get newest(): number {
    return this.#count;
  }

  cancel(): void {
    this.#controller.abort();
  }

  /** Keeps less of what has ended: there are many such runs. */
  rest(): void {
    if (this.#over) this.#trim(KEPT_AFTER_CHARS);
  }

  /** The event after this number, as soon as there is one: a later one where it is not kept any more; null at the end. */
  async next(after: number): Promise<NumberedEvent | null> {
    for (;;) {
      const found = this.#kept[Math.max(0, after + 1 - this.oldest)];
      if (found) return found;
      if (this.#over) return null;
      await this.#change.promise;
    }
  }

  #add(event: QueryEvent): void {
    this.#kept.push({ number: ++this.#count, event });
    this.#chars += charsOf(event);
    this.#trim(KEPT_CHARS);
    if (this.#count === 1) this.#begun.resolve({ queryId: event.queryId, branchId: this.#branch?.branchId ?? "" });
    this.#wake();
  }

  #trim(chars: number): void {
    while (this.#kept.length > 1 && (this.#kept.length > KEPT_EVENTS || this.#chars > chars)) {
      const gone = this.#kept.shift();
      if (gone) this.#chars -= charsOf(gone.event);
    }
  }

  #end(): void {
    this.#over = true;
    this.#wake();
  }

  #wake(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers();
  }
}

/** Only of texts that a model writes: the others are small. */
function charsOf(event: QueryEvent): number {
  if ("delta" in event) return event.delta.length;
  return "code" in event ? event.code.length : 0;
}
