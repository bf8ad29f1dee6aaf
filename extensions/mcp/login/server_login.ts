import { type AuthProvider, OAuthError, refreshAuthorization } from "@modelcontextprotocol/client";
import { loginAdvice } from "./login_advice.ts";
import { LoginError } from "./login_error.ts";
import { loginFault } from "./login_fault.ts";
import { loginFetch } from "./login_fetch.ts";
import { type Login, Logins } from "./logins.ts";

/** The stored login of one server, for its requests. It is read for each one, so that a login and a logout count at
 * once, and renewed when the server refuses it. */
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

  /** The tokens that were used, which must not be shown. */
  get secrets(): readonly string[] {
    return [...this.#secrets];
  }

  async token(): Promise<string | undefined> {
    const login = await this.#logins?.get(this.#name, this.#url) ?? null;
    this.#sent = login ? this.#kept(login).tokens.access_token : undefined;
    return this.#sent;
  }

  /** Renews the login; requests that are refused at the same time wait for one renewal. */
  async onUnauthorized(): Promise<void> {
    await (this.#renewing ??= this.#renew(this.#sent).finally(() => this.#renewing = null));
  }

  async #renew(refused: string | undefined): Promise<void> {
    const logins = this.#logins;
    if (!logins || refused === undefined) throw this.#needed("the server wants a login");
    await logins.exclusive(async (write) => {
      const login = await logins.get(this.#name, this.#url);
      if (!login) throw this.#needed("the server wants a login");
      if (login.tokens.access_token !== refused) return; // somebody else renewed it
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
      throw new LoginError(`The login cannot be renewed: ${loginFault(error)}`);
    }
  }

  #kept(login: Login): Login {
    const { access_token: access, refresh_token: refresh } = login.tokens;
    for (const secret of [access, refresh]) if (secret) this.#secrets.add(secret);
    return login;
  }

  #needed(why: string): LoginError {
    return new LoginError(`${why}: ${loginAdvice(this.#name)}`);
  }
}
