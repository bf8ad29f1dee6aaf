import { RealmBody } from "./body.ts";
import { type HeadersInput, RealmHeaders } from "./headers.ts";

export interface ResponseInput {
  readonly status?: number;
  readonly statusText?: string;
  readonly headers?: HeadersInput;
  readonly url?: string;
  readonly redirected?: boolean;
}

export class RealmResponse extends RealmBody {
  readonly status: number;
  readonly statusText: string;
  readonly url: string;
  readonly redirected: boolean;

  constructor(body?: unknown, init: ResponseInput = {}) {
    super(body, new RealmHeaders(init.headers));
    this.status = init.status ?? 200;
    this.statusText = init.statusText ?? "";
    this.url = init.url ?? "";
    this.redirected = init.redirected ?? false;
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  clone(): RealmResponse {
    return new RealmResponse(RealmBody.peek(this), this);
  }

  static json(value: unknown, init: ResponseInput = {}): RealmResponse {
    const headers = new RealmHeaders(init.headers);
    if (!headers.has("content-type")) headers.set("content-type", "application/json");
    return new RealmResponse(JSON.stringify(value), { ...init, headers });
  }
}
