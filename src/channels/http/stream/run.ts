import type { Conversation } from "../../../conversation/conversations.ts";
import type { AskOptions } from "../../../conversation/send_options.ts";
import { WaitingQuestions } from "../../../conversation/waiting_questions.ts";
import type { Approve } from "../../../domain/query/approval.ts";
import type { Emit } from "../../../domain/query/query_event.ts";
import type { QueryEvent, QueryResult } from "../../../domain/query/query_schemas.ts";

/** Number of events of a running query that are kept for clients. */
const KEPT_EVENTS = 1000;
/** Limit of the characters in their texts; a client that needs more reads rows. */
const KEPT_CHARS = 500_000;
/** The limit after the query has ended; older events are read from rows. */
const KEPT_AFTER_CHARS = 200_000;

/** Runs a query for a client, with the listeners of a run. A client that answers questions passes `approve` on. */
export type Ask = (
  options: Required<Pick<AskOptions, "signal" | "emit" | "onBranch">>,
  approve: Approve,
) => Promise<QueryResult>;

/** What is known about a query from its start. */
export interface Begun {
  readonly queryId: string;
  /** The conversation's first branch; it serves as its id. */
  readonly branchId: string;
}

interface Numbered {
  readonly number: number;
  readonly event: QueryEvent;
}

/** A query that this process runs or ran: its newest events and its end. A slow client does not make it keep more. */
export class LiveRun {
  readonly questions = new WaitingQuestions();
  readonly #kept: Numbered[] = [];
  readonly #controller = new AbortController();
  readonly #begun = Promise.withResolvers<Begun>();
  #branch: Conversation | null = null;
  #newest = 0;
  #chars = 0;
  #over = false;
  #change = Promise.withResolvers<void>();
  /** Settles like `Conversations.ask`. */
  readonly ended: Promise<QueryResult>;

  /** `onEvent` receives every event, before those who follow the run. */
  constructor(ask: Ask, onEvent: Emit = () => {}) {
    const onBranch = (branch: Conversation): void => void (this.#branch = branch);
    const emit: Emit = (event, number = this.#newest + 1) => {
      onEvent(event);
      this.#add(event, number);
    };
    this.ended = ask({ signal: this.#controller.signal, emit, onBranch }, this.questions.approve);
    this.ended.then(() => this.#end(), (error: unknown) => {
      this.#begun.reject(error);
      this.#end();
    });
    this.#begun.promise.catch(() => {});
  }

  /** Resolves at the first event; rejects like `ended` if nothing was begun. */
  get begun(): Promise<Begun> {
    return this.#begun.promise;
  }

  /** Null until it is known or created. */
  get conversationId(): string | null {
    return this.#branch?.conversationId ?? null;
  }

  get running(): boolean {
    return !this.#over;
  }

  /** Number of the oldest event still kept; one more than the newest if there is none. */
  get oldest(): number {
    return this.#kept[0]?.number ?? this.#newest + 1;
  }

  get newest(): number {
    return this.#newest;
  }

  cancel(): void {
    this.#controller.abort();
  }

  /** Reduces what is kept after the end: there are many such runs. */
  rest(): void {
    if (this.#over) this.#trim(KEPT_AFTER_CHARS);
  }

  /** The events after this number until the end, as soon as each happens. */
  async *events(after = 0): AsyncGenerator<Numbered> {
    for (let last = after;;) {
      const found = this.#after(last);
      if (found) {
        yield found;
        last = found.number;
      } else if (this.#over) return;
      else await this.#change.promise;
    }
  }

  #after(last: number): Numbered | undefined {
    if (last >= this.#newest) return undefined;
    const next = this.#kept[Math.max(0, last + 1 - this.oldest)];
    if (next?.number === last + 1) return next;
    return this.#kept.find(({ number }) => number > last);
  }

  #add(event: QueryEvent, number: number): void {
    const isFirst = this.#newest === 0;
    this.#newest = number;
    this.#kept.push({ number, event });
    this.#chars += charsOf(event);
    this.#trim(KEPT_CHARS);
    if (isFirst) this.#begun.resolve({ queryId: event.queryId, branchId: this.#branch?.branchId ?? "" });
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

/** Counts only texts that a model writes: the others are small. */
function charsOf(event: QueryEvent): number {
  if ("delta" in event) return event.delta.length;
  return "code" in event ? event.code.length : 0;
}
