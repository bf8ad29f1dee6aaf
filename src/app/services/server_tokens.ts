import { resolve } from "node:path";
import type { ServeRequest } from "../../channels/channel.ts";
import { oneToken, type TokenSource } from "../../channels/http/tokens.ts";
import type { Config } from "../../config/schema.ts";
import { ConfigError, UsageError } from "../../domain/errors.ts";
import { createLog } from "../../logging/log.ts";
import type { EnvironmentVariables, Settings } from "../settings/settings.ts";
import { serverToken, sharedFileNotes } from "./server_token.ts";

export interface ServerTokens {
  readonly source: TokenSource;
  /** Null if there is a list of tokens. */
  readonly token: string | null;
  /** The source of the tokens. */
  readonly from: string;
  readonly notes: readonly string[];
}

/** The list of `--tokens` or `server.tokensFile`, otherwise the single token of `serverToken`; and the tokens of the
 * issuer in `server.jwt`, if there is one. Throws `ConfigError` for tokens that cannot be used, and `UsageError` if
 * both are set. */
export async function serverTokens(
  request: Pick<ServeRequest, "token" | "tokenFile" | "tokens">,
  { env, settings }: { readonly env: EnvironmentVariables; readonly settings: Pick<Settings, "home" | "config"> },
): Promise<ServerTokens> {
  const { server } = settings.config;
  const { source, ...rest } = await ownTokens(request, { env, settings });
  return { ...rest, source: await withSigned(source, server) };
}

/** The same without the tokens of an issuer. */
async function ownTokens(
  request: Parameters<typeof serverTokens>[0],
  { env, settings }: Parameters<typeof serverTokens>[1],
): Promise<ServerTokens> {
  const { server } = settings.config;
  const isOne = request.token !== undefined || request.tokenFile !== undefined;
  if (isOne && request.tokens !== undefined) {
    throw new UsageError("Cannot use --tokens together with --token or --token-file: choose one");
  }
  const named = request.tokens ?? (isOne ? null : server.tokensFile);
  if (named === null) {
    const { token, ...rest } = await serverToken(request, { env, settings });
    return { ...rest, token, source: oneToken(token, server.quota) };
  }
  const { TokenList } = await import("./token_list.ts");
  const path = resolve(named);
  const list = await TokenList.open(path, { quota: server.quota, now: Date.now, log: createLog("http") });
  const open = await sharedFileNotes(path);
  const unused = env["VIS_TOKEN"] ? [`VIS_TOKEN is ignored: tokens come from ${path}`] : [];
  return { source: list, token: null, from: path, notes: [...open, ...unused] };
}

/** The code that checks signatures is only loaded if it is needed. */
async function withSigned(source: TokenSource, { jwt, quota }: Config["server"]): Promise<TokenSource> {
  const { issuer, audience } = jwt;
  if (issuer === null) return source;
  if (audience === null) {
    throw new ConfigError("Cannot accept tokens of server.jwt.issuer: set server.jwt.audience, which they must name");
  }
  const { signedTokens } = await import("../../channels/http/signed_tokens.ts");
  const signed = signedTokens({ ...jwt, issuer, audience, quota, now: Date.now, log: createLog("http") });
  return { grants: () => source.grants(), fault: () => source.fault?.() ?? Promise.resolve(""), signed };
}
