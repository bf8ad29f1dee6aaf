import { randomBytes } from "node:crypto";
import { join, resolve } from "node:path";
import type { ServeRequest } from "../../channels/channel.ts";
import { oneToken, type TokenSource } from "../../channels/http/tokens.ts";
import type { Config } from "../../config/schema.ts";
import { ConfigError, fileCode, fileFault, UsageError } from "../../domain/errors.ts";
import { ensureFile, ensureFolder, sharedFileNotes } from "../../domain/kit/files.ts";
import { createLog } from "../../logging/log.ts";
import type { EnvironmentVariables, Settings } from "../settings/settings.ts";

interface ServerTokens {
  readonly source: TokenSource;
  readonly token: string | null;
  readonly from: string;
  readonly notes: readonly string[];
  readonly isNew?: true;
}

export async function serverTokens(
  request: Pick<ServeRequest, "token" | "tokenFile" | "tokens">,
  { env, settings }: { readonly env: EnvironmentVariables; readonly settings: Pick<Settings, "home" | "config"> },
): Promise<ServerTokens> {
  const { server } = settings.config;
  const { source, ...rest } = await ownTokens(request, { env, settings });
  return { ...rest, source: await withSigned(source, server) };
}

async function ownTokens(
  request: Parameters<typeof serverTokens>[0],
  { env, settings }: Parameters<typeof serverTokens>[1],
): Promise<ServerTokens> {
  const { server } = settings.config;
  const isOne = request.token !== undefined || request.tokenFile !== undefined;
  if (isOne && request.tokens !== undefined) {
    throw new UsageError("Cannot use --tokens with --token or --token-file: they exclude each other; choose one");
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
  const unused = env["VIS_TOKEN"] ? [`Vis ignores VIS_TOKEN, because its tokens come from ${path}`] : [];
  return { source: list, token: null, from: path, notes: [...open, ...unused] };
}

async function withSigned(source: TokenSource, { jwt, quota }: Config["server"]): Promise<TokenSource> {
  const { issuer, audience } = jwt;
  if (issuer === null) return source;
  if (audience === null) {
    throw new ConfigError(
      "Cannot accept tokens of server.jwt.issuer: server.jwt.audience is not set; set it to the audience " +
        "that the tokens name",
    );
  }
  const { signedTokens } = await import("../../channels/http/signed_tokens.ts");
  const signed = signedTokens({ ...jwt, issuer, audience, quota, now: Date.now, log: createLog("http") });
  return { grants: () => source.grants(), fault: () => source.fault?.() ?? Promise.resolve(""), signed };
}

interface ServerToken {
  readonly token: string;
  readonly from: string;
  readonly notes: readonly string[];
  readonly isNew?: true;
}

export async function serverToken(
  { token, tokenFile }: Pick<ServeRequest, "token" | "tokenFile">,
  { env, settings }: { readonly env: EnvironmentVariables; readonly settings: Pick<Settings, "home" | "config"> },
): Promise<ServerToken> {
  if (token !== undefined) return told(token, "--token");
  if (tokenFile === undefined && env["VIS_TOKEN"]) return told(env["VIS_TOKEN"], "VIS_TOKEN");
  const named = tokenFile ?? settings.config.server.tokenFile;
  if (named) return await fromFile(resolve(named));
  if (settings.home === null) {
    throw new ConfigError("Cannot save a token: Vis has no home folder; use --token-file or VIS_TOKEN");
  }
  await ensureFolder(settings.home).catch(() => {}); // `fromFile` then reports the fault.
  return await fromFile(join(settings.home, "server-token"));
}

function told(token: string, from: string): ServerToken {
  if (!/^[\x21-\x7e]{16,512}$/.test(token)) {
    const refused = `Cannot use the token of ${from}: it is not 16 to 512 visible ASCII characters; make one with ` +
      "openssl rand -hex 32";
    throw from === "--token" ? new UsageError(refused) : new ConfigError(refused);
  }
  return { token, from, notes: [] };
}

async function fromFile(path: string): Promise<ServerToken> {
  try {
    return await read(path);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    if (!(error instanceof Deno.errors.NotFound)) throw unusable(path, error);
  }
  return await make(path);
}

/** Writes the file atomically, so that concurrent starts use the same complete token. */
async function make(path: string): Promise<ServerToken> {
  const draft = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    const token = randomBytes(32).toString("base64url");
    await ensureFile(draft);
    await Deno.writeTextFile(draft, `${token}\n`, { create: false });
    await Deno.link(draft, path);
    return { token, from: path, notes: [], isNew: true };
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) return await read(path);
    throw unusable(path, error, fileCode(error) === "ENOENT" ? "its folder does not exist" : undefined);
  } finally {
    await Deno.remove(draft).catch(() => {});
  }
}

async function read(path: string): Promise<ServerToken> {
  const text = await Deno.readTextFile(path);
  return { ...told(text.trim(), path), notes: await sharedFileNotes(path) };
}

function unusable(path: string, error: unknown, fault = fileFault(error)): ConfigError {
  return new ConfigError(
    `Cannot use token file ${path}: ${fault}; choose another with --token-file`,
  );
}
