import type { Dependency, VariableImage } from "../domain/query/variable.ts";
import type { BranchPoint } from "../domain/records/conversations.ts";
import { type BranchSegment, readLineage, readLineageAt, readPoint } from "./branches.ts";
import { Content } from "./content.ts";
import { Damage, type Database, fromJson } from "./database.ts";
import { checkRun } from "./runs.ts";
import type { VariableHead, VariableStore, VariableVersion } from "./store.ts";
import { loadValues, newestVariables, shownVersions, variableImage, type VariableMetadata } from "./variable_rows.ts";
import { newestMoment, VariableSouls, writeScopes } from "./variable_writer.ts";

const AT_ONCE = 500;

/** Source texts of blocks by `expression_state.id`. */
async function blockCodes(db: Database, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const codes = new Map<string, string>();
  const wanted = [...new Set(ids)].filter((id) => id !== "");
  for (let i = 0; i < wanted.length; i += AT_ONCE) {
    const some = wanted.slice(i, i + AT_ONCE);
    const rows = await db.selectFrom("expressionState as e").select(["e.id", "e.expr", "e.metadata"])
      .where("e.id", "in", some).execute();
    if (rows.length < some.length) throw new Damage("a block that made a variable is missing");
    // The column returns the text exactly unless it is blank or contains U+FFFD; see blockCells().
    const odd = rows.filter(({ expr }) => expr === null || expr.includes("\ufffd"));
    const content = new Content(db);
    await content.load(odd.map((row) => row.metadata));
    for (const { id, expr } of rows) codes.set(id, expr ?? "");
    for (const { id, expr, metadata } of odd) {
      codes.set(id, fromJson<{ code: string }>(content.text(metadata ?? "{}")).code ?? expr ?? "");
    }
  }
  return codes;
}

/** Reads the variables of a branch and determines which are live. */
export class VariableRows {
  readonly #db: Database;
  readonly #now: () => number;

  constructor(db: Database, now: () => number) {
    this.#db = db;
    this.#now = now;
  }

  heads(branchId: string, at?: BranchPoint): Promise<readonly VariableHead[]> {
    return this.#read(async (tx) => {
      const rows = await newestVariables(tx, { lineage: await lineageOf(tx, branchId, { at }) });
      const content = new Content(tx);
      await content.load(rows.map((row) => row.metadata));
      const facts = rows.map((row) => fromJson<VariableMetadata>(content.text(row.metadata ?? "{}")));
      const codes = await blockCodes(tx, facts.flatMap(({ block }) => block ?? []));
      return rows.map((row, at) => {
        // The values are neither needed nor read: an image without them has everything that a head contains.
        const { name, kind, summary, reason } = variableImage(content, { ...row, result: null });
        const code = codes.get(facts[at]?.block ?? "") ?? "";
        const { scope, number: versions, createdAt } = row;
        return { name, kind, scope, summary, reason, code, versions, createdAt };
      });
    });
  }

  liveImages(branchId: string, at?: BranchPoint): Promise<readonly VariableImage[]> {
    return this.#read(async (tx) => {
      const lineage = await lineageOf(tx, branchId, { at });
      const rows = (await newestVariables(tx, { lineage })).filter(({ scope }) => scope === "live").reverse();
      const content = new Content(tx);
      await loadValues(content, rows);
      const reads = await readsOf(tx, lineage);
      const nodes = rows.map((row) => {
        const image = variableImage(content, row);
        return { image, name: image.name, requires: image.requires, reads: reads.get(image.name) ?? [] };
      });
      return restoreOrder(nodes).map(({ image }) => image);
    });
  }

  versions(
    branchId: string,
    { name, newest = Infinity, at }: {
      readonly name: string;
      readonly newest?: number | undefined;
      readonly at?: BranchPoint | undefined;
    },
  ): Promise<readonly VariableVersion[]> {
    return this.#read(async (tx) => {
      const lineage = await lineageOf(tx, branchId, { at });
      const rows = (await shownVersions(tx, { lineage, name, limit: newest })).toReversed();
      const content = new Content(tx);
      await loadValues(content, rows);
      const blocks = rows.map((row) => fromJson<VariableMetadata>(content.text(row.metadata ?? "{}")).block ?? "");
      const codes = await blockCodes(tx, blocks);
      return rows.map((row, at) => ({
        version: row.number,
        image: variableImage(content, row),
        code: codes.get(blocks[at] ?? "") ?? "",
        createdAt: row.createdAt,
      }));
    });
  }

  /** Versions that no block of this run made. Those of its child queries are in other branches. */
  given(queryId: string): Promise<readonly VariableImage[]> {
    return this.#read(async (tx) => {
      const run = await tx.selectFrom("queryState as r").innerJoin("querySoul as q", "q.id", "r.querySoulId")
        .select("q.conversationStateId as branchId").where("r.id", "=", queryId).executeTakeFirst();
      const rows = await tx.selectFrom("iteration as i").innerJoin("expressionState as e", "e.iterationId", "i.id")
        .innerJoin("expressionSoul as s", "s.id", "e.expressionSoulId")
        .select(["s.name", "s.kind", "s.conversationStateId as branchId", "e.expr", "e.result", "e.metadata"])
        .where("i.queryStateId", "=", queryId)
        .orderBy("i.position").orderBy("e.rowid").execute();
      const content = new Content(tx);
      await content.load(rows.map(({ metadata }) => metadata));
      const given = rows.filter(({ metadata, kind: sort, branchId }) => {
        if (sort !== "var" || branchId !== run?.branchId) return false;
        const { kind, block } = fromJson<VariableMetadata>(content.text(metadata ?? "{}"));
        return kind !== "text" && !block;
      });
      await loadValues(content, given);
      return given.map((row) => variableImage(content, row));
    });
  }

  /** System variables and unknown names are skipped. An inherited variable gets its own soul. */
  setScope(
    branchId: string,
    { names, scope, queryId }: Parameters<VariableStore["setScope"]>[1],
  ): Promise<void> {
    return this.#db.write(async (tx) => {
      await checkRun(tx, { queryId: queryId ?? null });
      const souls = new VariableSouls(tx, { branchId, now: this.#now() });
      await souls.prepare(names);
      const at = await newestMoment(tx, branchId);
      await writeScopes(names, { db: tx, souls, at, scope, now: this.#now() });
    });
  }

  #read<T>(work: (tx: Database) => Promise<T>): Promise<T> {
    return this.#db.read(work);
  }
}

/** Names that the blocks that made a variable have read, by the variable's name. */
async function readsOf(tx: Database, lineage: Lineage): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, string[]>();
  for (const { name, reads } of await readEdges(tx, lineage.map(({ branchId }) => branchId))) {
    const list = found.get(name);
    if (list) list.push(reads);
    else found.set(name, [reads]);
  }
  return found;
}

type Lineage = readonly [BranchSegment, ...BranchSegment[]];

/** The lineage of the branch now, or at a moment of it. */
async function lineageOf(
  tx: Database,
  branchId: string,
  { at }: { readonly at: BranchPoint | undefined },
): Promise<Lineage> {
  return at ? await readLineageAt(tx, await readPoint(tx, { ...at, action: "show" })) : await readLineage(tx, branchId);
}

/** `Store.dependencies`: which variables of a branch were made from which others, each pair once. */
export async function readDependencies(db: Database, branchId: string): Promise<readonly Dependency[]> {
  return await db.read(async (tx) => {
    const branches = (await readLineage(tx, branchId)).map((segment) => segment.branchId);
    const pairs = new Map<string, Dependency>();
    for (const edge of await readEdges(tx, branches)) pairs.set(`${edge.name} ${edge.reads}`, edge);
    return [...pairs.values()].sort((a, b) => compare(a.name, b.name) || compare(a.reads, b.reads));
  });
}

/** The edges of these branches between variables. */
async function readEdges(db: Database, branches: readonly string[]): Promise<readonly Dependency[]> {
  const rows = await db.selectFrom("expressionDependency as d")
    .innerJoin("expressionSoul as down", "down.id", "d.downstreamExpressionSoulId")
    .innerJoin("expressionSoul as up", "up.id", "d.upstreamExpressionSoulId")
    .select(["down.name as name", "up.name as reads"]).where("d.conversationStateId", "in", branches).execute();
  return rows.flatMap(({ name, reads }) => name === null || reads === null ? [] : [{ name, reads }]);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

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
