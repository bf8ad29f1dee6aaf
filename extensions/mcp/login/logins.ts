import { join } from "node:path";
import type {
  AuthorizationServerMetadata,
  OAuthClientInformationMixed,
  OAuthTokens,
} from "@modelcontextprotocol/client";
import { ensureFile, ensureFolder, replaceFile } from "@vis/extension";
import { LoginError } from "./login_error.ts";

/** What a login leaves: enough to renew it without asking. */
export interface Login {
  /** Of the server; its tokens are for no other address. */
  readonly url: string;
  readonly authorizationServer: string;
  readonly metadata: AuthorizationServerMetadata;
  readonly resource?: string;
  readonly client: OAuthClientInformationMixed;
  readonly tokens: OAuthTokens;
}

type Stored = Readonly<Record<string, Login>>;

const OTHERS = 0o077;

/** Logins by the name of the server, in a file that only its owner can read. */
export class Logins {
  readonly path: string;
  readonly #home: string;

  constructor(home: string) {
    this.path = join(home, "mcp-logins.json");
    this.#home = home;
  }

  /** Null if there is none for this server at this address. Throws LoginError for a file that cannot be used. */
  async get(name: string, url: string): Promise<Login | null> {
    const stored = await this.#read();
    const found = Object.hasOwn(stored, name) ? stored[name] : undefined;
    return found?.url === url ? found : null;
  }

  async set(name: string, login: Login): Promise<void> {
    await this.exclusive(async (write) => await write(name, login));
  }

  /** Returns false if there was none. */
  async remove(name: string): Promise<boolean> {
    if (!Object.hasOwn(await this.#read(), name)) return false;
    await this.exclusive(async (write) => await write(name, null));
    return true;
  }

  /** Runs `work` while no other conversation or process changes a login: a refresh token may work only once. */
  async exclusive<T>(work: (write: (name: string, login: Login | null) => Promise<void>) => Promise<T>): Promise<T> {
    await ensureFolder(this.#home);
    const locked = join(this.#home, "mcp-logins.lock");
    await ensureFile(locked);
    using lock = await Deno.open(locked, { write: true });
    await lock.lock(true);
    return await work(async (name, login) => {
      const others = Object.entries(await this.#read()).filter(([one]) => one !== name);
      const logins = Object.fromEntries([...others, ...(login ? [[name, login] as const] : [])]);
      await replaceFile(this.path, `${JSON.stringify({ version: 1, logins }, null, 2)}\n`);
    });
  }

  async #read(): Promise<Stored> {
    let text: string;
    try {
      using file = await Deno.open(this.path);
      const { mode } = await file.stat();
      if (Deno.build.os !== "windows" && ((mode ?? 0) & OTHERS) !== 0) {
        throw new LoginError(`Other users can reach ${this.path}: run chmod 600 ${this.path}`);
      }
      text = await new Response(file.readable).text();
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return {};
      if (error instanceof LoginError) throw error;
      throw new LoginError(`${this.path} cannot be read: ${error instanceof Error ? error.name : "unknown"}`);
    }
    return parsed(text) ?? fail(`${this.path} is not what vis mcp login wrote: remove it and log in`);
  }
}

function fail(message: string): never {
  throw new LoginError(message);
}

/** Null if it is no list of logins; the parser's own message would quote the file. */
function parsed(text: string): Stored | null {
  try {
    const { version, logins } = JSON.parse(text);
    const found: readonly Partial<Login>[] = Object.values(logins);
    const isWhole = found.every(({ url, authorizationServer, metadata, client, tokens }) =>
      typeof url === "string" && typeof authorizationServer === "string" && typeof metadata === "object" &&
      typeof client?.client_id === "string" && typeof tokens?.access_token === "string"
    );
    return version === 1 && isWhole ? logins : null;
  } catch {
    return null;
  }
}
