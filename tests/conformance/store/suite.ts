import type { Store } from "../../../src/persistence/store.ts";
import { storeArchiveCases } from "./archive.ts";
import { storeChildCases } from "./children.ts";
import { storeConversationCases } from "./conversations.ts";
import { storeExtrasCases } from "./extras.ts";
import { storeFenceCases } from "./fence.ts";
import { storeForkCases } from "./forks.ts";
import { storeIterationCases } from "./iterations.ts";
import { storeLeaseCases } from "./leases.ts";
import { storeOrderCases } from "./order.ts";
import { storePropertyCases } from "./properties.ts";
import { storeQueryCases } from "./queries.ts";
import { storeRequestKeyCases } from "./request_keys.ts";
import { storeSearchCases } from "./search.ts";
import { storeStateCases } from "./states.ts";
import { storeTenantCases } from "./tenants.ts";
import { storeVariableCases } from "./variables.ts";

/** A test of one promise of `Store`, which takes `clock.now` as the time. */
export interface StoreCase {
  readonly name: string;
  readonly run: (store: Store, clock: { now: number }) => Promise<void>;
}

/** Tests an implementation of `Store`. `open` returns an empty store that uses the clock. */
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
    ...storeTenantCases,
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
