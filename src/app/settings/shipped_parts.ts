import type { DescribedIndex, LiveIndex, SettingsIndex } from "../../extension/registry/description.ts";
import type { RealmIndex, ShippedIndex } from "../../extension/loading/loader.ts";

/** The shipped extensions as main.ts passes them. */
export interface ShippedParts {
  readonly shipped: ShippedIndex;
  /** Extensions without a description delay a query. */
  readonly described: DescribedIndex;
  readonly live?: LiveIndex;
  readonly settings?: SettingsIndex;
  readonly realm?: RealmIndex;
}
