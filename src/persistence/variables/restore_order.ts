interface Node {
  readonly name: string;
  /** Must come before it. */
  readonly requires: readonly string[];
  /** Should come before it. */
  readonly reads: readonly string[];
}

/** Orders the nodes so that each comes after what it requires and reads (Kahn). A cycle is broken at the earliest node
 * whose requirements are met, else at a node of a cycle of requirements. Every node is in the result once, and the same
 * input gives the same order. Names outside the list are ignored. */
export function restoreOrder<T extends Node>(nodes: readonly T[]): T[] {
  const index = new Map(nodes.map((node, at) => [node.name, at]));
  const known = (names: readonly string[], self: number): Set<number> =>
    new Set(names.flatMap((name) => index.get(name) ?? []).filter((at) => at !== self));
  const hard = nodes.map((node, at) => known(node.requires, at));
  const all = nodes.map((node, at) => known([...node.requires, ...node.reads], at));
  const dependents = nodes.map((): number[] => []);
  all.forEach((needs, at) => needs.forEach((need) => dependents[need]?.push(at)));

  const left = new Set(nodes.keys());
  const ordered: number[] = [];
  const ready = [...left].filter((at) => all[at]?.size === 0);
  while (left.size > 0) {
    const next = ready.shift() ?? breakCycle(left, hard);
    if (!left.delete(next)) continue;
    ordered.push(next);
    for (const dependent of dependents[next] ?? []) {
      hard[dependent]?.delete(next);
      all[dependent]?.delete(next);
      if (all[dependent]?.size === 0 && left.has(dependent)) ready.push(dependent);
    }
  }
  return ordered.flatMap((at) => nodes[at] ?? []);
}

/** A Set keeps insertion order, which is the order of the nodes, so the first match is the earliest. If only
 * requirements are left that cannot be met, they are followed to a node on a cycle: a node that merely depends on the
 * cycle comes later. */
function breakCycle(left: ReadonlySet<number>, hard: readonly ReadonlySet<number>[]): number {
  let at: number | undefined;
  for (const candidate of left) {
    at ??= candidate;
    if (hard[candidate]?.size === 0) return candidate;
  }
  const passed = new Set<number>();
  while (at !== undefined && !passed.has(at)) {
    passed.add(at);
    at = [...hard[at] ?? []].find((need) => left.has(need));
  }
  return at ?? 0;
}
