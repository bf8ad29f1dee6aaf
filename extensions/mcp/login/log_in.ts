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
import { isSecureUrl } from "@vis/extension";
import { LoginError } from "./login_error.ts";
import { checkAddress, loginFetch } from "./login_fetch.ts";
import type { Login } from "./logins.ts";
import { redirectListener } from "./redirect_listener.ts";

interface Person {
  print(text: string): void;
  /** Asks for a line; null if the browser on this machine answers. */
  readonly ask: ((question: string) => Promise<string>) | null;
}

const PING = { jsonrpc: "2.0", id: 1, method: "ping" };
const DONE = "The login was received. Go back to the terminal.";
const PASTE = "Copy the address of this page into the terminal.";

/** Logs in to a server in the browser. Rejects with LoginError, or with what the library throws. */
export async function logIn(url: string, { print, ask }: Person): Promise<Login> {
  if (!isSecureUrl(url)) throw new LoginError("Its address has no https, which logins need");
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

/** The authorization server that the server names, and what to ask it for. */
async function discovered(url: string) {
  const fetchFn = loginFetch(url);
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const refused = await fetchFn(url, { method: "POST", headers, body: JSON.stringify(PING) });
  await refused.body?.cancel();
  const challenge = extractWWWAuthenticateParams(refused);
  const { resourceMetadataUrl } = challenge;
  const info = await discoverOAuthServerInfo(url, { fetchFn, ...(resourceMetadataUrl ? { resourceMetadataUrl } : {}) });
  const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = info;
  if (!metadata) throw new LoginError("It names no authorization server");
  if (metadata.registration_endpoint === undefined) {
    throw new LoginError("Its authorization server registers no programs: add a header with a token instead");
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

/** The library's own check of the resource is used: it must be the server, or above it. */
const NO_OWN_CHECK = {} as Parameters<typeof selectResourceURL>[1];

function scopeOf({ authorizationServerMetadata, resourceMetadata }: OAuthServerInfo, wanted?: string): string {
  const scopes = new Set(wanted?.split(" ") ?? resourceMetadata?.scopes_supported ?? []);
  // Without it, some servers give no refresh token.
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

/** An address must have the state of this login; a code alone is bound to it by PKCE. */
function pasted(text: string, state: string): URLSearchParams {
  const line = text.trim();
  if (!URL.canParse(line)) return new URLSearchParams({ code: line });
  const { searchParams } = new URL(line);
  if (searchParams.get("state") === state) return searchParams;
  throw new LoginError("The address belongs to another login");
}

function codeOf(answer: URLSearchParams): { readonly authorizationCode: string; readonly iss?: string } {
  const code = answer.get("code") ?? "", iss = answer.get("iss");
  if (code !== "") return { authorizationCode: code, ...(iss === null ? {} : { iss }) };
  const error = answer.get("error") ?? "";
  throw new LoginError(`The authorization server gave no code${/^\w{1,60}$/.test(error) ? `: ${error}` : ""}`);
}
