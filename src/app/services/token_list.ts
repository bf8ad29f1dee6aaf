import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { z } from "zod";
import type { Quota, TokenGrant, TokenSource } from "../../channels/http/tokens.ts";
import { parseJsonc } from "../../config/jsonc.ts";
import { ConfigError, fileFault, messageOf } from "../../domain/errors.ts";
import { inputFault } from "../../domain/input_fault.ts";
import { sharedFileNotes } from "../../domain/kit/files.ts";
import { DEFAULT_TENANT, TENANT_NAME, TENANT_RULE } from "../../domain/kit/ids.ts";
import type { Log } from "../../logging/log.ts";

const LOOK_AGAIN_MS = 1_000;
const MAX_TOKENS = 1_000;

const ALL = "*";

const limit = z.number().positive().nullable();

const Entry = z.strictObject({
  name: z.string().regex(/^[\w.@-]{1,64}$/, "must have 1 to 64 letters, digits and _ . @ -"),
  token: z.union([
    z.string().regex(/^sha256:[0-9a-f]{64}$/),
    z.string().regex(/^(?!sha256:)[\x21-\x7e]{16,512}$/),
  ], { error: "must have 16 to 512 visible ASCII characters, or be sha256: and the 64 digits of its hash" }),
  scope: z.enum(["read", "write", "admin"]).default("write"),
  tenant: z.string().refine((name) => name === ALL || TENANT_NAME.test(name), TENANT_RULE).default(DEFAULT_TENANT),
  expires: z.iso.datetime({ offset: true }).nullable().default(null),
  queriesPerDay: limit.optional(),
  costUsdPerDay: limit.optional(),
  concurrent: limit.optional(),
});

const List = z.strictObject({ tokens: z.array(Entry).min(1).max(MAX_TOKENS) });

interface Loaded {
  readonly grants: readonly TokenGrant[];
  readonly stamp: string;
}

interface TokenListOptions {
  readonly quota: Quota;
  readonly now: () => number;
  readonly log: Log;
}

/** If the file becomes unusable, the previous tokens stay valid. */
export class TokenList implements TokenSource {
  readonly #path: string;
  readonly #options: TokenListOptions;
  #loaded: Loaded;
  #lookedAt: number;
  #looking: Promise<void> | null = null;
  #fault: TokenFault | null = null;

  constructor(path: string, { options, loaded }: { readonly options: TokenListOptions; readonly loaded: Loaded }) {
    this.#path = path;
    this.#options = options;
    this.#loaded = loaded;
    this.#lookedAt = options.now();
  }

  static async open(path: string, options: TokenListOptions): Promise<TokenList> {
    return new TokenList(path, { options, loaded: await load(path, options) });
  }

  async grants(): Promise<readonly TokenGrant[]> {
    const now = this.#options.now();
    if (now >= this.#lookedAt && now < this.#lookedAt + LOOK_AGAIN_MS) return this.#loaded.grants;
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null;
      this.#lookedAt = this.#options.now();
    });
    await this.#looking;
    return this.#loaded.grants;
  }

  async fault(): Promise<string> {
    await this.grants();
    return this.#fault?.shown ?? "";
  }

  async #look(): Promise<void> {
    const { log } = this.#options;
    try {
      const isSame = await stampOf(this.#path) === this.#loaded.stamp;
      if (!isSame) this.#loaded = await load(this.#path, this.#options);
      if (!isSame || this.#fault?.isUnread) log.info("tokens_loaded", { tokens: this.#loaded.grants.length });
      const [open = ""] = await sharedFileNotes(this.#path);
      this.#note(
        open === "" ? null : { isUnread: false, why: open, shown: "other users have access to the token file" },
      );
    } catch (error) {
      const shown = "Vis cannot use the token file; the previous tokens stay valid";
      this.#note({ isUnread: true, why: messageOf(error), shown });
    }
  }

  #note(fault: TokenFault | null): void {
    const before = this.#fault;
    this.#fault = fault;
    if (fault === null || fault.why === before?.why) return;
    const { log } = this.#options;
    if (fault.isUnread) log.error("tokens_not_loaded", { error: fault.why });
    else log.warn("tokens_shared", { error: fault.why });
  }
}

interface TokenFault {
  readonly isUnread: boolean;
  readonly why: string;
  /** Clients can read this text, so it contains no path. */
  readonly shown: string;
}

async function load(path: string, { quota }: TokenListOptions): Promise<Loaded> {
  try {
    // The stamp is older than the text, so the next check notices a change in between.
    const stamp = await stampOf(path);
    return { stamp, grants: grantsOf(path, { value: parse(path, await Deno.readTextFile(path)), quota }) };
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw unusable(path, fileFault(error), "correct server.tokensFile or --tokens, or let Vis read the file");
  }
}

function unusable(path: string, why: string, wayOut = "correct the file"): ConfigError {
  return new ConfigError(`Cannot use the tokens of ${path}: ${why}; ${wayOut}`);
}

async function stampOf(path: string): Promise<string> {
  const { mtime, size, ino, mode } = await Deno.stat(path);
  return `${mtime?.getTime()} ${size} ${ino} ${mode}`;
}

/** A value could be a token, so errors quote only the names of tokens and unknown keys. */
function grantsOf(
  file: string,
  { value, quota }: { readonly value: unknown; readonly quota: Quota },
): readonly TokenGrant[] {
  const parsed = List.safeParse(value, { error: inputFault });
  if (!parsed.success) {
    const { path = [], message } = parsed.error.issues[0] ?? { message: "is wrong" };
    throw unusable(file, `${path.join(".") || "the file"} ${message}`);
  }
  const grants = parsed.data.tokens.map(({ name, token, scope, tenant, expires, ...own }) => ({
    name,
    digest: digestOf(token),
    scope,
    tenant: tenant === ALL ? DEFAULT_TENANT : tenant,
    all: tenant === ALL || scope === "admin",
    expiresAt: expires === null ? null : Date.parse(expires),
    quota: {
      queriesPerDay: own.queriesPerDay === undefined ? quota.queriesPerDay : own.queriesPerDay,
      costUsdPerDay: own.costUsdPerDay === undefined ? quota.costUsdPerDay : own.costUsdPerDay,
      concurrent: own.concurrent === undefined ? quota.concurrent : own.concurrent,
    },
  }));
  const twice = grants.findIndex(({ name }, at) => grants.findIndex((one) => one.name === name) !== at);
  if (twice >= 0) throw unusable(file, `tokens.${twice}.name is ${grants[twice]?.name}, which another token has`);
  const hashes = grants.map(({ digest }) => Buffer.from(digest).toString("hex"));
  const same = hashes.findIndex((hash, at) => hashes.indexOf(hash) !== at);
  if (same >= 0) {
    const first = grants[hashes.indexOf(hashes[same] ?? "")];
    throw unusable(file, `tokens.${same} (${grants[same]?.name}) has the same token as ${first?.name}`);
  }
  return grants;
}

function parse(path: string, text: string): unknown {
  try {
    return parseJsonc({ path, text });
  } catch {
    throw unusable(path, "the file is not JSON"); // The parser's message would show part of the text.
  }
}

function digestOf(token: string): Uint8Array {
  const hash = /^sha256:([0-9a-f]{64})$/.exec(token)?.[1];
  return hash === undefined ? createHash("sha256").update(token).digest() : Buffer.from(hash, "hex");
}
