import {
  type AuthorizationServerMetadata,
  AuthorizationServerMismatchError,
  type AuthProvider,
  type FetchLike,
  IssuerMismatchError,
  type OAuthClientInformationMixed,
  OAuthError,
  type OAuthTokens,
  refreshAuthorization,
  RegistrationRejectedError,
} from "@modelcontextprotocol/client";
import { ensureFile, ensureFolder, isSecureUrl, reasonOf, replaceFile } from "@vis/extension";
import { join } from "node:path";

/** Vis reads the stored login for each request, so a running conversation notices a login and a logout. */
export class ServerLogin implements AuthProvider {
  readonly #name: string;
  readonly #url: string;
  readonly #logins: Logins | null;
  readonly #secrets = new Set<string>();
  #sent: string | undefined;
  #renewing: Promise<void> | null = null;

  constructor(home: string | null, { name, url }: { readonly name: string; readonly url: string }) {
    this.#name = name;
    this.#url = url;
    this.#logins = home === null ? null : new Logins(home);
  }

  get secrets(): readonly string[] {
    return [...this.#secrets];
  }

  async token(): Promise<string | undefined> {
    const login = await this.#logins?.get(this.#name, this.#url) ?? null;
    this.#sent = login ? this.#kept(login).tokens.access_token : undefined;
    return this.#sent;
  }

  async onUnauthorized(): Promise<void> {
    await (this.#renewing ??= this.#renew(this.#sent).finally(() => this.#renewing = null));
  }

  async #renew(refused: string | undefined): Promise<void> {
    const logins = this.#logins;
    if (!logins || refused === undefined) throw this.#needed("the server requires a login");
    await logins.exclusive(async (write) => {
      const login = await logins.get(this.#name, this.#url);
      if (!login) throw this.#needed("the server requires a login");
      if (login.tokens.access_token !== refused) return;
      await write(this.#name, this.#kept(await this.#renewed(login)));
    });
  }

  async #renewed(login: Login): Promise<Login> {
    const { authorizationServer, metadata, client, tokens: { refresh_token: refreshToken }, resource } = login;
    if (refreshToken === undefined) throw this.#needed("the login has ended");
    try {
      const tokens = await refreshAuthorization(authorizationServer, {
        metadata,
        clientInformation: client,
        refreshToken,
        ...(resource === undefined ? {} : { resource }),
        fetchFn: loginFetch(this.#url),
      });
      return { ...login, tokens };
    } catch (error) {
      if (error instanceof OAuthError && /^invalid_|^unauthorized_/.test(error.code)) {
        throw this.#needed("the login has ended");
      }
      throw new LoginError(`Vis could not renew the login (${loginFault(error)})`);
    }
  }

  #kept(login: Login): Login {
    const { access_token: access, refresh_token: refresh } = login.tokens;
    for (const secret of [access, refresh]) if (secret) this.#secrets.add(secret);
    return login;
  }

  #needed(why: string): LoginError {
    return new LoginError(`${why}; ${loginAdvice(this.#name)}`);
  }
}

export interface Login {
  readonly url: string;
  readonly authorizationServer: string;
  readonly metadata: AuthorizationServerMetadata;
  readonly resource?: string;
  readonly client: OAuthClientInformationMixed;
  readonly tokens: OAuthTokens;
}

type Stored = Readonly<Record<string, Login>>;

const OTHERS = 0o077;

export class Logins {
  readonly path: string;
  readonly #home: string;

  constructor(home: string) {
    this.path = join(home, "mcp-logins.json");
    this.#home = home;
  }

  async get(name: string, url: string): Promise<Login | null> {
    const stored = await this.#read();
    const found = Object.hasOwn(stored, name) ? stored[name] : undefined;
    return found?.url === url ? found : null;
  }

  async set(name: string, login: Login): Promise<void> {
    await this.exclusive(async (write) => await write(name, login));
  }

  async remove(name: string): Promise<boolean> {
    if (!Object.hasOwn(await this.#read(), name)) return false;
    await this.exclusive(async (write) => await write(name, null));
    return true;
  }

  /** A refresh token may work only once, so no other conversation or process changes a login while `work` runs. */
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
        throw new LoginError(`Other users have access to ${this.path}; run chmod 600 ${this.path}`);
      }
      text = await new Response(file.readable).text();
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return {};
      if (error instanceof LoginError) throw error;
      throw new LoginError(`The file ${this.path} is not readable (${reasonOf(error)})`);
    }
    return parsed(text) ??
      fail(`The file ${this.path} contains no logins of vis mcp login; delete the file and log in again`);
  }
}

function fail(message: string): never {
  throw new LoginError(message);
}

/** The parser's own message would quote the file. */
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

const MAX_ANSWER = 1 << 20, LIMIT_MS = 30_000;

export function loginFetch(server: string): FetchLike {
  return async (input, init) => {
    checkAddress(String(input), server);
    const signal = AbortSignal.timeout(LIMIT_MS);
    const answer = await fetch(input, { ...init, redirect: "error", signal });
    let length = 0;
    const counter = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform: (chunk, controller) => {
        length += chunk.length;
        if (length > MAX_ANSWER) {
          controller.error(new LoginError(`A response to the login is larger than ${MAX_ANSWER} bytes, the limit`));
        } else controller.enqueue(chunk);
      },
    });
    const { status, statusText, headers } = answer;
    return new Response(answer.body?.pipeThrough(counter, { signal }) ?? null, { status, statusText, headers });
  };
}

/** A remote server must not send Vis to addresses of this machine without https. Throws LoginError for an address
 * without https, unless it is local and `server` is a local address without https. */
export function checkAddress(address: string, server: string): void {
  const { protocol, origin } = new URL(address);
  const isLocal = isSecureUrl(address) && isSecureUrl(server) && new URL(server).protocol === "http:";
  if (protocol === "https:" || isLocal) return;
  throw new LoginError(`${origin} does not begin with https, which logins need`);
}

/** Texts of authorization servers may repeat codes and tokens, so the reason omits these texts. */
export function loginFault(error: unknown): string {
  if (error instanceof LoginError) return reasonOf(error);
  if (error instanceof RegistrationRejectedError) {
    return `its authorization server refused to register Vis (status ${error.status}); add a header with a token instead`;
  }
  if (error instanceof OAuthError) {
    return `its authorization server refused${/^\w{1,60}$/.test(error.code) ? ` (${error.code})` : ""}`;
  }
  const kind = error instanceof Error ? error.name : "unknown";
  if (error instanceof IssuerMismatchError || error instanceof AuthorizationServerMismatchError) {
    return `its authorization server differs from the server that the metadata names (${kind})`;
  }
  return `the server or its authorization server gave no usable response (${kind})`;
}

export class LoginError extends Error {
  override readonly name = "LoginError";
}

export function loginAdvice(name: string): string {
  return `run vis mcp login ${name}, or keep a token with vis auth login ${name}, and add the header ` +
    `"Authorization: Bearer \${auth:${name}}"`;
}

export function isSigned(headers: Readonly<Record<string, string>>): boolean {
  return Object.keys(headers).some((key) => key.toLowerCase() === "authorization");
}
