import { RealmBody } from "./body.ts";
import { type HeadersInput, RealmHeaders } from "./headers.ts";

/** What the realm's AbortSignal offers. */
export interface RealmSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: () => void): void;
}

export interface RequestInput {
  readonly method?: string;
  readonly headers?: HeadersInput;
  readonly body?: unknown;
  /** "follow", "error" or "manual". */
  readonly redirect?: string;
  readonly signal?: RealmSignal;
}

export class RealmRequest extends RealmBody {
  readonly url: string;
  readonly method: string;
  readonly redirect: string;
  readonly signal: RealmSignal | null;

  constructor(input: unknown, init: RequestInput = {}) {
    const from = input instanceof RealmRequest ? input : null;
    const body = init.body ?? (from ? RealmBody.peek(from) : null);
    super(body, new RealmHeaders(init.headers ?? from?.headers));
    const url = new URL(from ? from.url : String(input));
    if (url.protocol !== "http:" && url.protocol !== "https:") throw new TypeError(`Cannot fetch ${url.protocol} URLs`);
    this.url = url.href;
    this.method = String(init.method ?? from?.method ?? "GET").toUpperCase();
    this.redirect = String(init.redirect ?? from?.redirect ?? "follow");
    this.signal = init.signal ?? from?.signal ?? null;
    if (body !== null && /^(?:GET|HEAD)$/.test(this.method)) {
      throw new TypeError(`Cannot send a body by ${this.method}`);
    }
  }

  clone(): RealmRequest {
    return new RealmRequest(this);
  }
}
