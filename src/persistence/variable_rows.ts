import { sql } from "kysely";
import type { VariableImage, VariableSummary } from "../domain/query/variable.ts";
import { type BranchSegment, isShownIteration } from "./branches.ts";
import { checkOf, compareValue, type Content, type ValueCheck } from "./content.ts";
import { type Database, fromJson, searchText, toJson } from "./database.ts";
import type { VariableHead } from "./store.ts";
import type { DatabaseSchema } from "./tables.ts";

/** `expression_soul.metadata` of a variable. */
export interface VariableSoulMetadata {
  /** Set for a system variable only. The scope of other variables follows from versions and `scope_change`. */
  readonly scope?: "system";
  /** The soul in an ancestor that this one continues, and the number of versions that it had. */
  readonly inheritedFrom?: string;
  readonly before?: number;
}

/** One version of a variable; `number` is 1 for the first one, counting the ancestors' versions. */
interface VersionRow extends Pick<DatabaseSchema["expressionState"], "expr" | "result" | "metadata" | "createdAt"> {
  readonly soulId: string;
  readonly name: string | null;
  readonly number: number;
}

interface NewestRow extends VersionRow {
  readonly scope: VariableHead["scope"];
  readonly iterationId: string | null;
}

/** Where something happened, such as branch and row, or query, run and iteration. */
type Place = readonly number[];
type FoundRow = Awaited<ReturnType<typeof newestOf>>[number];

/** The newest version of each variable that a branch with this lineage shows, newest first, with its scope: the
 * branch's own, else that of the nearest ancestor at the fork. Versions are in the order in which they were stored. */
export async function newestVariables(
  db: Database,
  { lineage, names }: { readonly lineage: readonly BranchSegment[]; readonly names?: readonly string[] },
): Promise<readonly NewestRow[]> {
  const scopes = new Map<string, VariableHead["scope"]>();
  const found = new Map<string, NewestRow & { readonly place: Place }>();
  for (const [depth, segment] of lineage.entries()) {
    for (const row of await newestOf(db, { segment, names })) {
      const name = row.name ?? "";
      const { scope: system, before = 0 } = fromJson<VariableSoulMetadata>(row.soulMetadata);
      const scope = system ?? scopeOf(row);
      if (scope && !scopes.has(name)) scopes.set(name, scope);
      const { version, createdAt } = row;
      if (version === null || row.place === null || createdAt === null || found.has(name)) continue;
      const place: Place = [-depth, row.place];
      const number = before + version + 1;
      found.set(name, { ...row, place, createdAt, number, scope: scopes.get(name) ?? "live" });
    }
  }
  return [...found.values()].sort((a, b) => comparePlaces(b.place, a.place));
}

/** The scope according to this segment: the last version (which makes the variable live) or the last change, whichever
 * is newer. A change is stored with the end of its iteration, after all versions. */
function scopeOf(row: FoundRow): VariableHead["scope"] | null {
  const { change, changeQuery, changeRun, changePosition } = row;
  if (change === null) return row.id === null ? null : "live";
  if (row.id === null) return change;
  const changed: Place = [changeQuery ?? 0, changeRun ?? 0, changePosition ?? -1];
  return comparePlaces(versionPlace(row), changed) > 0 ? "live" : change;
}

function versionPlace({ query, run, position }: FoundRow): Place {
  return [query ?? 0, run ?? 0, position ?? 0];
}

function comparePlaces(a: Place, b: Place): number {
  for (const [at, one] of a.entries()) {
    const other = b[at] ?? 0;
    if (one !== other) return one < other ? -1 : 1;
  }
  return 0;
}

/** Versions of one variable that such a branch shows, newest first, at most `limit`. */
export async function shownVersions(
  db: Database,
  { lineage, name, limit = Infinity }: {
    readonly lineage: readonly BranchSegment[];
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

/** Every variable of one segment, with its newest version and, if the segment shows one, its newest change of scope. */
async function newestOf(
  db: Database,
  { segment, names }: { readonly segment: BranchSegment; readonly names?: readonly string[] | undefined },
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
    .select(["e.expr", "e.result", "e.metadata", "e.createdAt", "e.iterationId"])
    .leftJoin("scopeChange as k", (join) => join.on((on) => on("k.id", "=", newestChange(db, segment))))
    .leftJoin("queryState as kr", "kr.id", "k.queryStateId")
    .leftJoin("querySoul as kw", "kw.id", "kr.querySoulId")
    .select(["w.rowid as query", "r.version as run", "t.position", "e.rowid as place"])
    .select(["k.scope as change", "kw.rowid as changeQuery"])
    .select(["kr.version as changeRun", "k.position as changePosition"])
    .where("v.conversationStateId", "=", segment.branchId).where("v.kind", "=", "var");
  return await (names === undefined ? wanted : wanted.where("v.name", "in", names)).execute();
}

/** The newest change of scope of variable `v`. */
function newestChange(db: Database, segment: BranchSegment) {
  return db.selectFrom("scopeChange as i")
    .leftJoin("queryState as s", "s.id", "i.queryStateId")
    .leftJoin("querySoul as q", "q.id", "s.querySoulId")
    .select("i.id").where("i.expressionSoulId", "=", sql.ref<string>("v.id"))
    .where((on) => on.or([on("i.queryStateId", "is", null), isShownIteration(on, segment)]))
    .orderBy("i.id", "desc").limit(1);
}

function shownStates(db: Database, segment: BranchSegment) {
  return db.selectFrom("expressionState as e")
    .innerJoin("iteration as i", "i.id", "e.iterationId")
    .innerJoin("queryState as s", "s.id", "i.queryStateId")
    .innerJoin("querySoul as q", "q.id", "s.querySoulId")
    .where((on) => isShownIteration(on, segment));
}

/** `expression_state.metadata` of a variable. `text` marks a system variable: its result is UTF-8 text. */
export interface VariableMetadata extends Omit<VariableImage, "name" | "bytes" | "kind">, ValueCheck {
  readonly kind: VariableImage["kind"] | "text";
  /** `expression_state.id` of the block that made this version; null for system variables. */
  readonly block: string | null;
  /** Position among the versions that the block made. */
  readonly order: number;
}

type ExpressionState = DatabaseSchema["expressionState"];
type Cells = Pick<ExpressionState, "expr" | "result" | "metadata">;

/** The cells of one version. The source of a function or class is searchable, so it is stored in `expr`; other values
 * refer to their block instead of repeating its text. */
export async function variableCells(
  content: Content,
  { image, block, order, before }: {
    readonly image: VariableImage;
    readonly block: string | null;
    readonly order: number;
    /** The result of the previous version. */
    readonly before: Cells["result"];
  },
): Promise<Cells> {
  const { name: _name, bytes, source, ...rest } = image;
  const declared = (image.kind === "function" || image.kind === "class") && source.trim() !== "";
  const expr = declared ? searchText(source) : null;
  const metadata = { ...rest, ...(expr === source ? {} : { source }), block, order, ...checkOf(bytes) };
  return {
    expr,
    result: bytes.length === 0 ? null : await content.putBytes(bytes, before),
    metadata: await content.putText(toJson(metadata)),
  };
}

/** The cells of one version of a system variable. */
export async function systemCells(content: Content, text: string): Promise<Cells> {
  const summary: VariableSummary = {
    declaration: "const",
    type: "string",
    size: text.length,
    shape: `string(${text.length})`,
    inline: text.length <= 100 ? JSON.stringify(text).slice(0, 120) : null,
    doc: "",
  };
  const bytes = new TextEncoder().encode(text);
  const metadata = {
    ...{ kind: "text", root: null, source: "", requires: [], reason: "", summary, block: null, order: 0 },
    ...checkOf(bytes),
  };
  return {
    expr: null,
    result: await content.putBytes(bytes),
    metadata: await content.putText(toJson(metadata)),
  };
}

/** The image from cells that were loaded into `content`. For a system variable, `source` is its text. Throws `Damage`
 * for a value that is not what was stored. */
export function variableImage(content: Content, row: Cells & { readonly name: string | null }): VariableImage {
  const facts = fromJson<VariableMetadata>(content.text(row.metadata ?? "{}"));
  const bytes = row.result === null || facts.large !== undefined ? new Uint8Array() : content.bytes(row.result);
  if (row.result !== null) compareValue(bytes, facts, `a value of variable ${row.name}`);
  const text = facts.kind === "text";
  return {
    name: row.name ?? "",
    kind: facts.kind === undefined || facts.kind === "text" ? "data" : facts.kind,
    bytes: text ? new Uint8Array() : bytes,
    root: facts.root ?? null,
    source: text ? new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes) : facts.source ?? row.expr ?? "",
    requires: facts.requires ?? [],
    reason: facts.reason ?? "",
    summary: facts.summary ?? { declaration: "", type: "", size: null, shape: "", inline: null, doc: "" },
    ...(facts.large === undefined ? {} : { large: facts.large }),
  };
}

/** Loads the cells of values to be read, except texts that are too large to pass around. */
export async function loadValues(content: Content, rows: readonly Pick<Cells, "result" | "metadata">[]): Promise<void> {
  await content.load(rows.map(({ metadata }) => metadata));
  const small = rows.filter(({ metadata }) =>
    fromJson<VariableMetadata>(content.text(metadata ?? "{}")).large === undefined
  );
  await content.load(small.map(({ result }) => result));
}
