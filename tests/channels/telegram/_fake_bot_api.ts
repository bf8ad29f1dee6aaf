import type { Message, Update } from "../../../src/channels/telegram/bot_api.ts";

export const TOKEN = "123456:AAFakeFakeFakeFakeFakeFakeFakeFake_-x";
export const BOT = { id: 123456, is_bot: true, first_name: "Vis", username: "VisTestBot" } as const;

export interface FakeMessage {
  readonly id: number;
  readonly chat: number;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly texts: string[];
  entities: readonly { readonly type: string; readonly offset: number; readonly length: number }[];
  buttons: Readonly<Record<string, string>>;
}

export interface FakeCall {
  readonly method: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly at: number;
}

/** The fault of a call. It is an answer in place of the real one, or a connection that is cut before or after the call.
 * It may also be an action instead of the call or after it. */
export type Fault =
  | { readonly status: number; readonly body: unknown }
  | { readonly cut: "before" | "after" }
  | { readonly act: () => Promise<unknown> | void; readonly when: "before" | "after" };

type Rule = (call: FakeCall) => Fault | null | undefined;

/** Telegram's Bot API on loopback, as far as a bot needs it. It keeps updates until they are confirmed, as the real one
 * does, and all texts of each message. */
export class FakeBotApi {
  readonly calls: FakeCall[] = [];
  readonly messages: FakeMessage[] = [];
  readonly rules: Rule[] = [];
  readonly files = new Map<string, Uint8Array<ArrayBuffer>>();
  webhook = "";
  #pending: Update[] = [];
  #nextUpdate = 1000;
  #nextMessage = 1;
  #waiting: { readonly wake: () => void; readonly end: (answer: Response) => void } | null = null;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor({ firstUpdate = 1000 } = {}) {
    this.#nextUpdate = firstUpdate;
    this.#server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen: () => {} },
      (request) => this.#serve(request),
    );
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  get unconfirmed(): number {
    return this.#pending.length;
  }

  shown(chat?: number): readonly string[] {
    return this.messages.filter((one) => chat === undefined || one.chat === chat).map(({ texts }) =>
      texts.at(-1) ?? ""
    );
  }

  callsOf(method: string): readonly FakeCall[] {
    return this.calls.filter((call) => call.method === method);
  }

  /** Sends a message of a user. Returns the number of its update. */
  say(text: string | null, more: Readonly<Record<string, unknown>> = {}, { user = 7 } = {}): number {
    const message = {
      message_id: 100_000 + this.#nextUpdate,
      date: 1_700_000_000,
      from: { id: user, is_bot: false, first_name: `User${user}` },
      chat: { id: user, type: "private", first_name: `User${user}` },
      ...(text === null ? {} : { text }),
      ...more,
    };
    return this.push({ message: message as unknown as Message });
  }

  /** Presses a button as a user. Returns the number of the update. */
  press(data: string, { chat, message = 1, user = 7 }: { chat: number; message?: number; user?: number }): number {
    const from = { id: user, is_bot: false, first_name: `User${user}` };
    const place = { id: chat, type: chat < 0 ? "supergroup" : "private" };
    const pressed = { message_id: message, date: 0, chat: place };
    const id = `press${this.#nextUpdate}`;
    return this.push({ callback_query: { id, from, message: pressed, data, chat_instance: "1" } } as unknown as Update);
  }

  push(update: Omit<Update, "update_id">): number {
    const id = this.#nextUpdate++;
    this.#pending.push({ update_id: id, ...update } as Update);
    this.#waiting?.wake();
    return id;
  }

  fail(method: string, ...faults: readonly Fault[]): void {
    const left = [...faults];
    this.rules.push((call) => call.method === method ? left.shift() : null);
  }

  async close(): Promise<void> {
    this.#waiting?.end(Response.json({ ok: true, result: [] }));
    await this.#server.shutdown();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #serve(request: Request): Promise<Response> {
    const [, kind = "", rest = "", ...path] = new URL(request.url).pathname.split("/");
    if (kind === "file") return this.#file(rest, path.join("/"));
    if (kind !== `bot${TOKEN}`) return refusal(kind.startsWith("bot") ? 401 : 404, "Unauthorized");
    const payload = request.body === null ? {} : await request.json() as Record<string, unknown>;
    const call = { method: rest, payload, at: Date.now() };
    this.calls.push(call);
    const fault = this.rules.map((rule) => rule(call)).find((one) => one);
    if (fault && "status" in fault) {
      const body = typeof fault.body === "string" ? fault.body : JSON.stringify(fault.body);
      return new Response(body, { status: fault.status });
    }
    if (fault && "cut" in fault && fault.cut === "before") return cut();
    if (fault && "act" in fault && fault.when === "before") {
      await fault.act();
      return cut();
    }
    const answer = await this.#answer(call);
    if (fault && "cut" in fault) return cut();
    if (fault && "act" in fault && fault.when === "after") await fault.act();
    return answer;
  }

  #file(bot: string, path: string): Response {
    const bytes = this.files.get(path);
    if (bot !== `bot${TOKEN}` || bytes === undefined) return new Response("no", { status: 404 });
    return new Response(bytes);
  }

  async #answer({ method, payload }: FakeCall): Promise<Response> {
    const ok = (result: unknown) => Response.json({ ok: true, result });
    switch (method) {
      case "getMe":
        return ok(BOT);
      case "getUpdates":
        return await this.#poll(payload);
      case "deleteWebhook":
        this.webhook = "";
        return ok(true);
      case "sendMessage":
        return this.#send(payload);
      case "editMessageText":
        return this.#edit(payload);
      case "deleteMessage": {
        const at = this.messages.findIndex(({ id }) => id === payload["message_id"]);
        if (at < 0) return refusal(400, "Bad Request: message to delete not found");
        this.messages.splice(at, 1);
        return ok(true);
      }
      case "getFile": {
        const path = String(payload["file_id"]);
        return ok({ file_id: path, file_size: this.files.get(path)?.length, file_path: path });
      }
      default:
        return ok(true);
    }
  }

  async #poll({ offset, timeout }: FakeCall["payload"]): Promise<Response> {
    if (this.webhook !== "") return refusal(409, "Conflict: can't use getUpdates method while webhook is active");
    this.#waiting?.end(refusal(409, "Conflict: terminated by other getUpdates request; make sure that only one runs"));
    if (typeof offset === "number") this.#pending = this.#pending.filter(({ update_id: id }) => id >= offset);
    if (this.#pending.length === 0 && Number(timeout) > 0) {
      const { promise, resolve } = Promise.withResolvers<Response | null>();
      const waiting = { wake: () => resolve(null), end: resolve };
      this.#waiting = waiting;
      const ended = await promise;
      if (this.#waiting === waiting) this.#waiting = null;
      if (ended !== null) return ended;
    }
    return Response.json({ ok: true, result: this.#pending.slice(0, 50) });
  }

  #send(payload: FakeCall["payload"]): Response {
    const problem = this.#problem(payload);
    if (problem !== null) return refusal(400, problem);
    const message: FakeMessage = {
      id: this.#nextMessage++,
      chat: Number(payload["chat_id"]),
      payload,
      texts: [String(payload["text"])],
      entities: entitiesOf(payload),
      buttons: buttonsOf(payload),
    };
    this.messages.push(message);
    const chat = { id: message.chat, type: "private", first_name: "x" };
    return Response.json({ ok: true, result: { message_id: message.id, date: 1, chat, text: payload["text"] } });
  }

  #edit(payload: FakeCall["payload"]): Response {
    const message = this.messages.find(({ id }) => id === payload["message_id"]);
    if (!message) return refusal(400, "Bad Request: message to edit not found");
    const problem = this.#problem(payload);
    if (problem !== null) return refusal(400, problem);
    const entities = entitiesOf(payload);
    if (message.texts.at(-1) === payload["text"] && JSON.stringify(entities) === JSON.stringify(message.entities)) {
      return refusal(400, "Bad Request: message is not modified: specified new message content is the same");
    }
    message.texts.push(String(payload["text"]));
    message.entities = entities;
    message.buttons = buttonsOf(payload);
    return Response.json({ ok: true, result: true });
  }

  #problem(payload: FakeCall["payload"]): string | null {
    const text = String(payload["text"] ?? "");
    if (text.trim() === "") return "Bad Request: message text is empty";
    if (text.length > 4096) return "Bad Request: message is too long";
    const wrong = entitiesOf(payload).some(({ offset, length }) => length <= 0 || offset + length > text.length);
    return wrong ? "Bad Request: can't parse entities" : null;
  }
}

export function refusal(code: number, description: string, parameters: object = {}): Response {
  return Response.json({ ok: false, error_code: code, description, parameters }, { status: code });
}

export function refused(code: number, description: string, parameters: object = {}): Fault {
  return { status: code, body: { ok: false, error_code: code, description, parameters } };
}

function entitiesOf(payload: FakeCall["payload"]): FakeMessage["entities"] {
  const given = payload["entities"];
  return Array.isArray(given) ? given : [];
}

function buttonsOf({ reply_markup: markup }: FakeCall["payload"]): FakeMessage["buttons"] {
  const { inline_keyboard: rows = [] } = (markup ?? {}) as {
    readonly inline_keyboard?: readonly (readonly { readonly text: string; readonly callback_data: string }[])[];
  };
  return Object.fromEntries(rows.flat().map(({ text, callback_data: data }) => [text, data]));
}

function cut(): Response {
  return new Response('{"ok":tr');
}
