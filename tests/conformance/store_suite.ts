import type { Store } from "../../src/persistence/store/store.ts";
import { storeArchiveCases } from "./store_archive.ts";
import { storeChildCases } from "./store_children.ts";
import { storeLeaseCases } from "./store_leases.ts";
import { storeFenceCases } from "./store_fence.ts";
import { storeForkCases } from "./store_forks.ts";
import { storeExtrasCases } from "./store_extras.ts";
import { storeConversationCases } from "./store_conversations.ts";
import { storeIterationCases } from "./store_iterations.ts";
import { storeOrderCases } from "./store_order.ts";
import { storePropertyCases } from "./store_properties.ts";
import { storeQueryCases } from "./store_queries.ts";
import { storeRequestKeyCases } from "./store_request_keys.ts";
import { storeSearchCases } from "./store_search.ts";
import { storeStateCases } from "./store_states.ts";
import { storeVariableCases } from "./store_variables.ts";

/** A test of one promise of `Store`. `clock.now` is what the store takes for the time. */
export interface StoreCase {
  readonly name: string;
  readonly run: (store: Store, clock: { now: number }) => Promise<void>;
}

/** What every implementation of `Store` must pass; `open` gives an empty one that uses the clock. */
export function storeSuite(
  label: string,
  open: (clock: { now: number }) => Promise<{ readonly store: Store; readonly dispose: () => Promise<void> }>,
): void {
  const cases = [
    ...storeConversationCases,
    ...storeQueryCases,
    ...storeIterationCases,
    ...storeVariableCases,
    ...storeSearchCases,
    ...storeChildCases,
    ...storeForkCases,
    ...storeArchiveCases,
    ...storeLeaseCases,
    ...storeFenceCases,
    ...storeOrderCases,
    ...storeExtrasCases,
    ...storePropertyCases,
    ...storeStateCases,
    ...storeRequestKeyCases,
  ];
  for (const { name, run } of cases) {
    Deno.test(`${name} [${label}]`, async () => {
      const clock = { now: 1_700_000_000_000 };
      const { store, dispose } = await open(clock);
      try {
        await run(store, clock);
      } finally {
        await store.close();
        await dispose();
      }
    });
  }
}
