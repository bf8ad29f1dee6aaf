import type { ActiveExtensions } from "./registry.ts";

/** What one extension contributes to a query; one with settings may stand for several. */
export type Part = Omit<ActiveExtensions, "call">;

/** What several extensions contribute, in their order. */
export function joinParts(parts: readonly Part[], call: ActiveExtensions["call"]): ActiveExtensions {
  const union = (key: keyof ActiveExtensions["grants"]): readonly string[] => [
    ...new Set(parts.flatMap(({ grants }) => grants[key])),
  ];
  return {
    list: parts.flatMap(({ list }) => list),
    functions: parts.flatMap(({ functions }) => functions),
    actions: Object.assign({}, ...parts.map(({ actions }) => actions)),
    untimed: parts.flatMap(({ untimed }) => untimed),
    reads: parts.flatMap(({ reads }) => reads),
    constants: Object.assign({}, ...parts.map(({ constants }) => constants)),
    grants: { net: union("net"), read: union("read"), write: union("write"), env: union("env") },
    globals: [...new Set(parts.flatMap(({ globals }) => globals))],
    modules: Object.assign({}, ...parts.map(({ modules }) => modules)),
    blocks: parts.flatMap(({ blocks }) => blocks),
    example: parts.find(({ example }) => example)?.example,
    nudges: parts.flatMap(({ nudges }) => nudges),
    faults: () => parts.flatMap(({ faults }) => faults?.() ?? []),
    call,
    doc: (name) => parts.reduce<string | null>((found, part) => found ?? part.doc(name), null),
  };
}
