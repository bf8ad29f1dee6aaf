import { startLogTable } from "../../logging/log_table.ts";
import { openStore, type OpenStoreOptions } from "../../persistence/open_store.ts";
import type { Store } from "../../persistence/store/store.ts";

/** The store, into whose log table goes from now on what is logged; closing it stores what still waits. */
export async function openLoggedStore(options: OpenStoreOptions): Promise<Store> {
  const store = await openStore(options);
  const table = startLogTable({ write: (entries) => store.log(...entries) });
  const close = store.close.bind(store);
  return Object.assign(store, {
    close: async (): Promise<void> => {
      await table.close();
      await close();
    },
  });
}
