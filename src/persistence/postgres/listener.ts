import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Address } from "./address.ts";
import { clientConfig } from "./client_config.ts";

const AGAIN_MS = 250;

/** What is used of a connection of `pg`. */
interface Client {
  connect(): Promise<void>;
  query(text: string): Promise<unknown>;
  end(): Promise<void>;
  on(event: "error" | "end", listener: () => void): void;
  on(event: "notification", listener: (said: { readonly channel: string; readonly payload?: string }) => void): void;
}

/** Receives a notification, or null after a time in which some may have been missed. */
export type Heard = (said: { readonly channel: string; readonly payload: string } | null) => void;

/** Listens to channels, on a connection of its own. A connection that ends is made again. */
export class PostgresListener {
  readonly #address: Address;
  readonly #channels: readonly string[];
  readonly #heard: Heard;
  #client: Client | null = null;
  #closed = false;

  constructor(address: Address, { channels, heard }: { readonly channels: readonly string[]; readonly heard: Heard }) {
    this.#address = address;
    this.#channels = channels;
    this.#heard = heard;
  }

  /** Rejects if the server cannot be reached now. */
  async start(): Promise<void> {
    const client: Client = new pg.Client(clientConfig(this.#address));
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    client.on("error", () => resolve());
    client.on("end", () => resolve());
    client.on("notification", ({ channel, payload = "" }) => this.#heard({ channel, payload }));
    try {
      await client.connect();
      for (const channel of this.#channels) await client.query(`LISTEN ${channel}`);
    } catch (error) {
      void client.end().catch(() => {});
      throw error;
    }
    this.#client = client;
    void ended.then(() => this.#again());
    this.#heard(null);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#client?.end();
  }

  async #again(): Promise<void> {
    this.#client = null;
    while (!this.#closed) {
      await sleep(AGAIN_MS);
      if (!this.#closed && await this.start().then(() => true, () => false)) return;
    }
  }
}
