import { ExtensionStore } from "../../src/environment/extension_store.ts";
import type { OwnStore } from "../../src/extension/mod.ts";
import { openStore } from "../../src/persistence/open_store.ts";
import type { Store } from "../../src/persistence/store.ts";

export class OwnStores implements AsyncDisposable {
  readonly store: Store;

  constructor(store: Store) {
    this.store = store;
  }

  static async open(path = ":memory:"): Promise<OwnStores> {
    return new OwnStores(await openStore({ path }));
  }

  of(namespace: string, workspace: string): OwnStore {
    return new ExtensionStore(this.store, { namespace, workspace });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.store.close();
  }
}
