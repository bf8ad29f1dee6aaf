import pg from "pg";
import { setTimeout as sleep } from "node:timers/promises";
import { settledWithin } from "../../domain/kit/time.ts";
import { type Address, clientConfig } from "./server.ts";

const AGAIN_MS = 250;
/** How often a connection is tried on which nothing else is sent, and how long it may take to answer. */
const LOOK_MS = 10_000, ANSWER_MS = 5_000;
const END_MS = 500;

/** What is used of a connection of `pg`. */
interface Client {
  readonly connection: { readonly stream: { destroy(): void } };
  connect(): Promise<void>;
  query(text: string): Promise<unknown>;
  end(): Promise<void>;
  on(event: "error" | "end", listener: () => void): void;
  on(event: "notification", listener: (said: { readonly channel: string; readonly payload?: string }) => void): void;
}

/** Receives a notification, or null after a time in which some may have been missed. */
type Heard = (said: { readonly channel: string; readonly payload: string } | null) => void;

interface PostgresListenerOptions {
  readonly channels: readonly string[];
  readonly heard: Heard;
  readonly lookMs?: number;
  readonly answerMs?: number;
}

/** Listens to channels, on a connection of its own. A connection that ends, or falls silent, is made again. */
export class PostgresListener {
  readonly #address: Address;
  readonly #options: Required<PostgresListenerOptions>;
  readonly #closed = new AbortController();
  #client: Client | null = null;

  constructor(address: Address, { lookMs = LOOK_MS, answerMs = ANSWER_MS, ...options }: PostgresListenerOptions) {
    this.#address = address;
    this.#options = { ...options, lookMs, answerMs };
  }

  /** Rejects if the server cannot be reached now. */
  async start(): Promise<void> {
    const { channels, heard } = this.#options;
    const client: Client = new pg.Client(clientConfig(this.#address));
    const ended = new AbortController();
    client.on("error", () => ended.abort());
    client.on("end", () => ended.abort());
    client.on("notification", ({ channel, payload = "" }) => heard({ channel, payload }));
    try {
      await client.connect();
      await this.#ask(client, channels.map((channel) => `LISTEN ${channel}`).join(";"));
      this.#closed.signal.throwIfAborted();
    } catch (error) {
      client.connection.stream.destroy();
      throw error;
    }
    this.#client = client;
    void this.#stay(client, ended.signal);
    heard(null);
  }

  async close(): Promise<void> {
    this.#closed.abort();
    const client = this.#client;
    if (client && !await settledWithin(client.end(), END_MS)) client.connection.stream.destroy();
  }

  /** Tries the connection from time to time, and makes another one when it ends. */
  async #stay(client: Client, ended: AbortSignal): Promise<void> {
    const over = AbortSignal.any([ended, this.#closed.signal]);
    while (!over.aborted) {
      await sleep(this.#options.lookMs, undefined, { signal: over }).catch(() => {});
      if (!over.aborted) await this.#ask(client, "SELECT 1").catch(() => client.connection.stream.destroy());
    }
    this.#client = null;
    while (!this.#closed.signal.aborted) {
      await sleep(AGAIN_MS, undefined, { signal: this.#closed.signal }).catch(() => {});
      if (!this.#closed.signal.aborted && await this.start().then(() => true, () => false)) return;
    }
  }

  async #ask(client: Client, text: string): Promise<void> {
    const answer = client.query(text);
    if (!await settledWithin(answer, this.#options.answerMs)) throw new Error("No answer of the server");
    await answer;
  }
}
