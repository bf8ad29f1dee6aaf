import type { Running } from "../../e2e/helpers/user.ts";
import { type Said, saidBy } from "./said.ts";
import { requestOf } from "./token_model.ts";
import { shortened, signal, type World } from "./world.ts";

const TOKEN = "a-token-for-trials-only";

export interface Asked {
  readonly token: string;
  readonly parts: number;
  readonly stream?: boolean;
  readonly key?: string;
  readonly whenBusy?: "refuse" | "wait";
  readonly leave?: AbortSignal;
}

/** One `vis serve`, which may be started again. */
export class Service {
  #running: Running | null = null;
  #url = "";

  constructor(readonly world: World, readonly name: string) {}

  get up(): boolean {
    return this.#running !== null;
  }

  get running(): Running {
    if (!this.#running) throw new Error(`Service ${this.name} is not up`);
    return this.#running;
  }

  async start(): Promise<void> {
    const running = this.world.start(["serve", "--port", "0"], { env: { VIS_TOKEN: TOKEN } });
    const started = running.until("URL", () => running.stdout.includes("\n"));
    await this.world.trial.within(`start of server ${this.name}`, started);
    this.#url = running.stdout.split("\n")[0] ?? "";
    this.#running = running;
  }

  /** Ends it with a signal and waits until it has ended. */
  async end(name: "SIGKILL" | "SIGTERM" | "SIGINT" | "SIGHUP"): Promise<void> {
    const { running } = this;
    this.#running = null;
    signal(running, name);
    const { code } = await this.world.over(running, `server ${this.name} after ${name}`);
    if (name !== "SIGKILL" && code !== 0) {
      this.world.trial.found(
        "unclear",
        `server ${this.name} ended with ${code} at ${name}: ${shortened(running.stderr)}`,
      );
    }
  }

  async call(path: string, body?: unknown, more: RequestInit = {}): Promise<Response> {
    return await fetch(new URL(`/api/v1/${path}`, this.#url), {
      method: body === undefined ? "GET" : "POST",
      ...more,
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json", ...more.headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  // deno-lint-ignore no-explicit-any
  async read(path: string, body?: unknown): Promise<any> {
    const what = `${this.name}: ${path}`;
    const response = await this.world.trial.within(what, this.call(path, body));
    const text = await response.text();
    if (response.ok) return JSON.parse(text);
    throw new Error(`${what}: ${response.status} ${shortened(text)}`);
  }

  async send(branch: string, { token, parts, stream, key, whenBusy, leave }: Asked): Promise<Said> {
    const body = { request: requestOf(token, parts), ...(whenBusy ? { whenBusy } : {}) };
    return await this.#said(`conversations/${branch}/messages`, body, { stream, key, leave });
  }

  async retry(branch: string, queryId: string): Promise<Said> {
    return await this.#said(`conversations/${branch}/retry`, { queryId });
  }

  async #said(
    path: string,
    body: object,
    { stream, key, leave }: Partial<Record<"stream", boolean | undefined>> & {
      readonly key?: string | undefined;
      readonly leave?: AbortSignal | undefined;
    } = {},
  ): Promise<Said> {
    const headers = { ...(key ? { "idempotency-key": key } : {}), ...(stream ? { accept: "text/event-stream" } : {}) };
    let text = "", status = 0;
    try {
      const response = await this.call(path, body, { headers, ...(leave ? { signal: leave } : {}) });
      status = response.status;
      text = await response.text();
    } catch {
      return { how: "gone" };
    }
    if (status === 409) return { how: "refused", text };
    if (status !== 200) return { how: "failed", text: `${status} ${shortened(text)}` };
    const result = stream ? endOf(text) : JSON.parse(text);
    return result ? saidBy(result) : { how: "gone" };
  }
}

/** Returns the result in the last event of a stream; null if the stream broke off before. */
function endOf(stream: string) {
  const data = stream.split("\n").filter((line) => line.startsWith("data: ")).at(-1);
  const event = data === undefined ? {} : JSON.parse(data.slice(6));
  return ["final", "failed", "cancelled"].includes(event.type) ? event.result : null;
}
