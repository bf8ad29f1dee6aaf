import { type Kysely, sql } from "kysely";
import { fromJson } from "./_json.ts";
import { isShownIteration, type Segment } from "./_lineage.ts";
import type { Schema } from "./_schema.ts";
import type { VariableHead } from "./store.ts";

/** `expression_soul.metadata` of a variable. */
export interface VariableSoulMetadata {
  readonly scope: VariableHead["scope"];
  /** The soul in an ancestor that it goes on from, and how many versions that one had. */
  readonly inheritedFrom?: string;
  readonly before?: number;
}

/** One version of a variable; `number` is 1 for the first one, ancestors' versions counted. */
export interface VersionRow extends Pick<Schema["expressionState"], "expr" | "result" | "metadata" | "createdAt"> {
  readonly soulId: string;
  readonly name: string | null;
  readonly number: number;
}

export interface NewestRow extends VersionRow {
  readonly scope: VariableHead["scope"];
}

/** Where a version was made: branch, query, run, iteration, row. Clocks that jump do not disorder it. */
type Place = readonly (number | string)[];

/** The newest version that a branch with this lineage shows of each variable, newest first: its own, else that of the
 * nearest ancestor as of the fork. */
export async function newestVariables(
  db: Kysely<Schema>,
  { lineage, names }: { readonly lineage: readonly Segment[]; readonly names?: readonly string[] },
): Promise<readonly NewestRow[]> {
  const scopes = new Map<string, VariableHead["scope"]>();
  const found = new Map<string, NewestRow & { readonly place: Place }>();
  for (const [depth, segment] of lineage.entries()) {
    for (const row of await newestOf(db, { segment, names })) {
      const name = row.name ?? "";
      const { scope = "live", before = 0 } = fromJson<VariableSoulMetadata>(row.soulMetadata);
      if (!scopes.has(name)) scopes.set(name, scope);
      const { version, id, createdAt } = row;
      if (version === null || id === null || createdAt === null || found.has(name)) continue;
      const { queryAt, queryId, run, position } = row;
      const place: Place = [-depth, queryAt ?? 0, queryId ?? "", run ?? 0, position ?? 0, id];
      found.set(name, { ...row, place, createdAt, number: before + version + 1, scope: scopes.get(name) ?? scope });
    }
  }
  return [...found.values()].sort((a, b) => comparePlaces(b.place, a.place));
}

function comparePlaces(a: Place, b: Place): number {
  for (const [at, one] of a.entries()) {
    const other = b[at] ?? 0;
    if (one !== other) return one < other ? -1 : 1;
  }
  return 0;
}

/** Versions of one variable that such a branch shows, newest first, at most `limit` of them. */
export async function shownVersions(
  db: Kysely<Schema>,
  { lineage, name, limit = Infinity }: {
    readonly lineage: readonly Segment[];
    readonly name: string;
    readonly limit?: number;
  },
): Promise<readonly VersionRow[]> {
  const found: VersionRow[] = [];
  for (const segment of lineage) {
    const wanted = shownStates(db, segment)
      .innerJoin("expressionSoul as v", "v.id", "e.expressionSoulId")
      .select(["v.id as soulId", "v.name", "v.metadata as soulMetadata", "e.version"])
      .select(["e.expr", "e.result", "e.metadata", "e.createdAt"])
      .where("v.conversationStateId", "=", segment.branchId).where("v.name", "=", name)
      .orderBy("e.version", "desc");
    const rows = await (limit === Infinity ? wanted : wanted.limit(limit - found.length)).execute();
    for (const { soulMetadata, version, ...row } of rows) {
      const { before = 0 } = fromJson<VariableSoulMetadata>(soulMetadata);
      found.push({ ...row, number: before + version + 1 });
    }
    if (found.length >= limit) break;
  }
  return found;
}

/** Every variable of one segment, with its newest version where the segment shows one. */
async function newestOf(
  db: Kysely<Schema>,
  { segment, names }: { readonly segment: Segment; readonly names?: readonly string[] | undefined },
) {
  const wanted = db.selectFrom("expressionSoul as v")
    .leftJoin("expressionState as e", (join) =>
      join.on((on) =>
        on(
          "e.id",
          "=",
          shownStates(db, segment).select("e.id").where("e.expressionSoulId", "=", sql.ref<string>("v.id"))
            .orderBy("e.version", "desc").limit(1),
        )
      ))
    .leftJoin("iteration as t", "t.id", "e.iterationId")
    .leftJoin("queryState as r", "r.id", "t.queryStateId")
    .leftJoin("querySoul as w", "w.id", "r.querySoulId")
    .select(["v.id as soulId", "v.name", "v.metadata as soulMetadata", "e.id", "e.version"])
    .select(["e.expr", "e.result", "e.metadata", "e.createdAt"])
    .select(["w.createdAt as queryAt", "w.id as queryId", "r.version as run", "t.position"])
    .where("v.conversationStateId", "=", segment.branchId).where("v.kind", "=", "var");
  return await (names === undefined ? wanted : wanted.where("v.name", "in", names)).execute();
}

function shownStates(db: Kysely<Schema>, segment: Segment) {
  return db.selectFrom("expressionState as e")
    .innerJoin("iteration as i", "i.id", "e.iterationId")
    .innerJoin("queryState as s", "s.id", "i.queryStateId")
    .innerJoin("querySoul as q", "q.id", "s.querySoulId")
    .where((on) => isShownIteration(on, segment));
}
