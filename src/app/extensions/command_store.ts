import { DEFAULT_TENANT } from "../../domain/kit/ids.ts";
import { ExtensionStore } from "../../environment/extension_store.ts";
import type { OwnStore } from "../../extension/own_store.ts";
import { openStore } from "../../persistence/open_store.ts";
import type { Store } from "../../persistence/store/store.ts";
import type { Settings } from "../settings/settings.ts";

type Opening = Pick<Settings, "database" | "databasePassword" | "workspace" | "tenant">;

/** The database for a command of an extension, opened by its first use. */
export class CommandStore implements AsyncDisposable {
  readonly #settings: Opening;
  #opened: Promise<Store> | null = null;

  constructor(settings: Opening) {
    this.#settings = settings;
  }

  of(namespace: string): OwnStore {
    const { workspace } = this.#settings;
    const open = () => this.#open();
    const states = async () => (await open()).states;
    return new ExtensionStore({
      states: {
        put: async (...args) => await (await states()).put(...args),
        get: async (...args) => await (await states()).get(...args),
        history: async (...args) => await (await states()).history(...args),
        list: async (...args) => await (await states()).list(...args),
        query: async (...args) => await (await states()).query(...args),
        delete: async (...args) => await (await states()).delete(...args),
      },
      putLarge: async (...args) => await (await open()).putLarge(...args),
      largePieces: async function* (large) {
        yield* (await open()).largePieces(large);
      },
      dropLarge: async (large) => await (await open()).dropLarge(large),
    }, { namespace, workspace });
  }

  #open(): Promise<Store> {
    const { database: path, databasePassword: password, tenant = DEFAULT_TENANT } = this.#settings;
    return this.#opened ??= openStore({ path, password }).then((store) => store.of(tenant));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const store = await this.#opened?.catch(() => null);
    await store?.close();
  }
}
