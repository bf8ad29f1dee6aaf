import { startLogTable } from "../../logging/log_table.ts";
import { openStore, type OpenStoreOptions } from "../../persistence/open_store.ts";
import type { Store } from "../../persistence/store/store.ts";

/** Opens the store. From then on log entries go into its log table; closing it stores pending ones. */
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
