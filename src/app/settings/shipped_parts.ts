import type { DescribedIndex, LiveIndex, SettingsIndex } from "../../extension/registry/description.ts";
import type { RealmIndex, ShippedIndex } from "../../extension/loading/loader.ts";

/** What main.ts hands down of the shipped extensions. */
export interface ShippedParts {
  readonly shipped: ShippedIndex;
  /** A query waits for those that have no description. */
  readonly described: DescribedIndex;
  readonly live?: LiveIndex;
  readonly settings?: SettingsIndex;
  readonly realm?: RealmIndex;
}
