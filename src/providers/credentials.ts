import { ConfigError, fileFault, isDenied } from "../domain/errors.ts";
import { ensureFile, ensureFolder, replaceFile } from "../domain/kit/files.ts";
import { asRecord } from "../domain/kit/json.ts";
import { dirname, join } from "node:path";

export type Credential =
  | {
    readonly type: "key";
    readonly key: string;
    /** Vis sends the key only to this address. Without `baseUrl`, Vis uses the address of the provider's preset. */
    readonly baseUrl?: string;
  }
  | {
    readonly type: "copilot";
    readonly githubToken: string;
    readonly domain: string;
  };

type Stored = Readonly<Record<string, Credential>>;

const OTHERS = 0o077;

export class Credentials {
  readonly #path: string | null;
  #read: Promise<Stored> | null = null;

  constructor(path: string | null) {
    this.#path = path;
  }

  get path(): string | null {
    return this.#path;
  }

  /** Rejects with `ConfigError` if Vis cannot read the file or its content, or if other users have access to the file
   * (not checked on Windows). */
  async get(provider: string): Promise<Credential | null> {
    const stored = await this.all();
    return Object.hasOwn(stored, provider) ? stored[provider] ?? null : null;
  }

  all(): Promise<Stored> {
    return this.#read ??= this.#load();
  }

  async set(provider: string, credential: Credential): Promise<void> {
    await this.#change((stored) => ({ ...stored, [provider]: credential }));
  }

  async remove(provider: string): Promise<boolean> {
    if (await this.get(provider) === null) return false;
    await this.#change((stored) => Object.fromEntries(Object.entries(stored).filter(([name]) => name !== provider)));
    return true;
  }

  async #load(): Promise<Stored> {
    if (this.#path === null) return {};
    let text: string;
    try {
      // A path could name another file between two calls, so Vis checks and reads one open file.
      using file = await Deno.open(this.#path);
      const { mode, isFile } = await file.stat();
      if (!isFile) {
        throw new ConfigError(
          `Cannot read the keys in ${this.#path}: it is not a regular file; remove it and log in again`,
        );
      }
      refuseShared(this.#path, mode);
      text = await new Response(file.readable).text();
    } catch (error) {
      if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return {};
      if (error instanceof ConfigError) throw error;
      throw new ConfigError(
        `Cannot read the keys in ${this.#path}: ${fileFault(error, error instanceof Error ? error.name : "unknown")}${
          isDenied(error) ? "; let Vis read the file" : ""
        }`,
      );
    }
    return parse(text, this.#path);
  }

  /** The lock keeps two processes from overwriting each other's keys. */
  async #change(change: (stored: Stored) => Stored): Promise<void> {
    if (this.#path === null) {
      throw new ConfigError("Cannot save a key: Vis has no home folder; set VIS_HOME to a writable folder");
    }
    try {
      await this.#write(this.#path, change);
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      // The message of an error may quote stored keys, so Vis shows only a known cause, or the name of the error.
      const name = error instanceof Error ? error.name : "unknown";
      const advice = isDenied(error) ? "; let Vis write this file" : "";
      throw new ConfigError(`Cannot save keys in ${this.#path}: ${fileFault(error, name)}${advice}`);
    }
    this.#read = null;
  }

  async #write(path: string, change: (stored: Stored) => Stored): Promise<void> {
    const folder = dirname(path);
    await ensureFolder(folder);
    const locked = join(folder, "auth.lock");
    await ensureFile(locked);
    using lock = await Deno.open(locked, { write: true });
    await lock.lock(true);
    const providers = change(await this.#load());
    await replaceFile(path, `${JSON.stringify({ version: 1, providers }, null, 2)}\n`);
  }
}

function refuseShared(path: string, mode: number | null): void {
  if (Deno.build.os === "windows" || mode === null || (mode & OTHERS) === 0) return;
  const shown = (mode & 0o777).toString(8);
  throw new ConfigError(
    `Cannot use the keys in ${path}: other users have access to the file (mode ${shown})`,
    { advice: `run chmod 600 ${path}` },
  );
}

function parse(text: string, path: string): Stored {
  const broken = new ConfigError(
    `Cannot read the keys in ${path}: the file does not have the format of vis auth`,
    { advice: "remove the file and log in again" },
  );
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw broken; // The parser's own message would quote the file.
  }
  const { version, providers } = asRecord(value);
  if (typeof version === "number" && version > 1) {
    throw new ConfigError(`Cannot read the keys in ${path}: a newer Vis wrote it (version ${version}); update Vis`);
  }
  if (typeof providers !== "object" || providers === null) throw broken;
  const found: Record<string, Credential> = {};
  for (const [name, entry] of Object.entries(providers)) {
    const { type, key, baseUrl, githubToken, domain } = asRecord(entry);
    if (type === "key" && typeof key === "string") {
      found[name] = { type, key, ...(typeof baseUrl === "string" ? { baseUrl } : {}) };
    } else if (type === "copilot" && typeof githubToken === "string" && typeof domain === "string") {
      found[name] = { type, githubToken, domain };
    } else throw broken;
  }
  return found;
}
