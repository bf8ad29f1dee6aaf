import type { ConfigFile } from "../../config/layers.ts";
import { ConfigError, messageOf } from "../../domain/errors.ts";
import { TrustList } from "../../extension/loading/trust_list.ts";
import { createHash } from "node:crypto";
import { join } from "node:path";

/** Configuration files of projects that the user allowed to set any key, each with the hash of its text: a changed file
 * is no longer trusted. */
export class ConfigTrust {
  readonly #list: TrustList | null;

  constructor(home: string | null) {
    this.#list = home === null ? null : new TrustList(join(home, "trusted-configs.json"));
  }

  /** Rejects with `ConfigError` if the list itself cannot be read. */
  async has(file: ConfigFile): Promise<boolean> {
    try {
      return await this.#list?.has(file.path, hashOf(file)) ?? false;
    } catch (error) {
      throw new ConfigError(messageOf(error));
    }
  }

  async add(file: ConfigFile): Promise<void> {
    if (this.#list === null) {
      throw new ConfigError("Cannot save what is trusted: set VIS_HOME to a folder that Vis may write");
    }
    await this.#list.add({ path: file.path, hash: hashOf(file), namespaces: [], at: new Date().toISOString() });
  }

  async remove(path: string): Promise<boolean> {
    return await this.#list?.remove(path) ?? false;
  }
}

function hashOf({ text }: ConfigFile): string {
  return createHash("sha256").update(text).digest("hex");
}
