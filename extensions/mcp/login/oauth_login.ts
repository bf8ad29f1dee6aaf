import { checkAddress, isSigned, type Login, LoginError, loginFault, loginFetch, Logins } from "./stored_logins.ts";
import {
  discoverOAuthServerInfo,
  exchangeAuthorization,
  extractWWWAuthenticateParams,
  type OAuthClientMetadata,
  type OAuthServerInfo,
  registerClient,
  selectResourceURL,
  startAuthorization,
} from "@modelcontextprotocol/client";
import { type CliContext, isSecureUrl, reasonOf } from "@vis/extension";

type Place = Pick<CliContext, "print" | "ask" | "home">;

const UNANSWERED: readonly string[] = ["Cancelled", "UsageError"];

export async function loginCommand(
  { name, server, paste }: { readonly name: string; readonly server: unknown; readonly paste: boolean },
  { print, ask, home }: Place,
): Promise<number> {
  const { url, headers = {} } = Object(server);
  const fault = home === null
    ? "Vis has no home folder; set VIS_HOME to a writable folder"
    : server === undefined
    ? "no server has this name; vis mcp list shows all servers"
    : typeof url !== "string"
    ? "it is a program, and only servers with a url have logins"
    : isSigned(headers)
    ? "its settings have an Authorization header, which Vis would use instead; remove the header"
    : "";
  if (home === null || fault !== "") return refused(print, `Cannot log in to ${name}: ${fault}`, MISUSED);
  const logins = new Logins(home);
  let login: Login;
  try {
    login = await logIn(url, { print, ask: paste ? ask : null });
  } catch (error) {
    if (error instanceof Error && UNANSWERED.includes(error.name)) throw error;
    return refused(print, `Cannot log in to ${name}: ${loginFault(error)}`);
  }
  try {
    await logins.set(name, login);
  } catch (error) {
    return refused(print, `Cannot save the login of ${name} in ${logins.path}: ${reasonOf(error)}`);
  }
  print(`Logged in to ${name}; the login is saved in ${logins.path}\n`);
  return 0;
}

export async function logoutCommand(name: string, { print, home }: Place): Promise<number> {
  try {
    const removed = home !== null && await new Logins(home).remove(name);
    print(removed ? `Deleted the login of ${name}\n` : `Vis has no login of ${name}\n`);
    return 0;
  } catch (error) {
    return refused(print, `Cannot delete the login of ${name}: ${reasonOf(error)}`);
  }
}

const MISUSED = 2;

function refused(print: Place["print"], message: string, code = 1): number {
  print(`vis: ${message}\n`);
  return code;
}

interface Person {
  print(text: string): void;
  readonly ask: ((question: string) => Promise<string>) | null;
}

const PING = { jsonrpc: "2.0", id: 1, method: "ping" };
const DONE = "The login was received. Go back to the terminal.";
const PASTE = "Copy the address of this page into the terminal.";

async function logIn(url: string, { print, ask }: Person): Promise<Login> {
  if (!isSecureUrl(url)) throw new LoginError("Its address does not begin with https, which logins need");
  const fetchFn = loginFetch(url);
  const { authorizationServer, metadata, resource, scope } = await discovered(url);
  const state = crypto.randomUUID() + crypto.randomUUID();
  await using listener = redirectListener(state, ask ? PASTE : DONE);
  const redirectUrl = listener.address;
  const client = await registerClient(authorizationServer, {
    metadata,
    clientMetadata: clientMetadata(redirectUrl),
    ...scope,
    fetchFn,
  });
  const asked = { metadata, clientInformation: client, redirectUrl, state, ...resource, ...scope };
  const { authorizationUrl, codeVerifier } = await startAuthorization(authorizationServer, asked);
  checkAddress(authorizationUrl.href, url);
  print(`Open this address in a browser, and log in:\n${authorizationUrl.href}\n`);
  const answer = ask ? pasted(await ask("Address or code after the login: "), state) : await listener.answer;
  const tokens = await exchangeAuthorization(authorizationServer, {
    metadata,
    clientInformation: client,
    ...codeOf(answer),
    codeVerifier,
    redirectUri: redirectUrl,
    ...resource,
    fetchFn,
  });
  return { url, authorizationServer, metadata, ...resource, client, tokens };
}

async function discovered(url: string) {
  const fetchFn = loginFetch(url);
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const refused = await fetchFn(url, { method: "POST", headers, body: JSON.stringify(PING) });
  await refused.body?.cancel();
  const challenge = extractWWWAuthenticateParams(refused);
  const { resourceMetadataUrl } = challenge;
  const info = await discoverOAuthServerInfo(url, { fetchFn, ...(resourceMetadataUrl ? { resourceMetadataUrl } : {}) });
  const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = info;
  if (!metadata) {
    throw new LoginError("Vis found no authorization server with readable metadata; add a header with a token instead");
  }
  if (metadata.registration_endpoint === undefined) {
    throw new LoginError(
      "Its authorization server does not support dynamic registration; add a header with a token instead",
    );
  }
  const selected = await selectResourceURL(url, NO_OWN_CHECK, resourceMetadata);
  const scope = scopeOf(info, challenge.scope);
  return {
    authorizationServer: authorizationServerUrl,
    metadata,
    resource: selected && resourceMetadata ? { resource: resourceMetadata.resource } : {},
    scope: scope === "" ? {} : { scope },
  };
}

/** Without a method of our own, the library checks that the resource is the server or above the server. */
const NO_OWN_CHECK = {} as Parameters<typeof selectResourceURL>[1];

function scopeOf({ authorizationServerMetadata, resourceMetadata }: OAuthServerInfo, wanted?: string): string {
  const scopes = new Set(wanted?.split(" ") ?? resourceMetadata?.scopes_supported ?? []);
  // Without this scope, some servers give no refresh token.
  if (authorizationServerMetadata?.scopes_supported?.includes("offline_access")) scopes.add("offline_access");
  return [...scopes].join(" ");
}

function clientMetadata(redirectUrl: string): OAuthClientMetadata {
  return {
    client_name: "Vis",
    redirect_uris: [redirectUrl],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
    application_type: "native",
  };
}

/** A pasted address must have the state of this login. For a code alone, PKCE binds the code to the login. */
function pasted(text: string, state: string): URLSearchParams {
  const line = text.trim();
  if (line === "") throw new LoginError("The pasted text is empty; paste the address or the code after the login");
  if (!URL.canParse(line)) return new URLSearchParams({ code: line });
  const { searchParams } = new URL(line);
  if (searchParams.get("state") === state) return searchParams;
  throw new LoginError("The pasted address lacks the state of this login; paste the address to which this login leads");
}

function codeOf(answer: URLSearchParams): { readonly authorizationCode: string; readonly iss?: string } {
  const code = answer.get("code") ?? "", iss = answer.get("iss");
  if (code !== "") return { authorizationCode: code, ...(iss === null ? {} : { iss }) };
  const error = answer.get("error") ?? "";
  throw new LoginError(`The authorization server gave no code${/^\w{1,60}$/.test(error) ? ` (${error})` : ""}`);
}

interface RedirectListener extends AsyncDisposable {
  readonly address: string;
  readonly answer: Promise<URLSearchParams>;
}

const PAGE_HEADERS = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" };

function redirectListener(state: string, page: string): RedirectListener {
  const { promise: answer, resolve } = Promise.withResolvers<URLSearchParams>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, ({ method, url }) => {
    const { pathname, searchParams } = new URL(url);
    if (method !== "GET" || pathname !== "/callback") return new Response(null, { status: 404 });
    if (searchParams.get("state") !== state) {
      return new Response("This is not the login that was started.\n", { status: 400, headers: PAGE_HEADERS });
    }
    resolve(searchParams);
    return new Response(`${page}\n`, { headers: PAGE_HEADERS });
  });
  return {
    address: `http://127.0.0.1:${server.addr.port}/callback`,
    answer,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
