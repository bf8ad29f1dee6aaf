import type { NormalExtension } from "../validate_extension.ts";

/** Keeps install order, with members of one group and subgroup moved to the position of its first member. */
export function grouped<A extends { readonly extension: NormalExtension }>(active: readonly A[]): readonly A[] {
  const groups = Map.groupBy(active, ({ extension }) => extension.group);
  return [...groups.values()].flatMap((group) =>
    [...Map.groupBy(group, ({ extension }) => extension.subgroup).values()].flat()
  );
}
