import { sql } from "kysely";
import { newId } from "../domain/kit/ids.ts";
import {
  type Dependency,
  SYSTEM_VARIABLES,
  type VariableImage,
  type VariableSummary,
} from "../domain/query/variable.ts";
import type { BranchPoint } from "../domain/records/conversations.ts";
import { type BranchSegment, isShownIteration, readLineage, readLineageAt, readPoint } from "./branches.ts";
import { compareValue, Content, releaseClaim, type ValueCheck } from "./long_values.ts";
import { Damage, type Database, fromJson, insertRow, namedQuery, searchText, toJson } from "./database.ts";
import { checkRun, lastIteration, newestRun } from "./runs.ts";
import type { IterationEnd, StoredBlock, VariableHead, VariableStore, VariableVersion } from "./store.ts";
import type { DatabaseSchema } from "./tables.ts";

const AT_ONCE = 500;

async function blockCodes(db: Database, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const codes = new Map<string, string>();
  const wanted = [...new Set(ids)].filter((id) => id !== "");
  for (let i = 0; i < wanted.length; i += AT_ONCE) {
    const some = wanted.slice(i, i + AT_ONCE);
    const rows = await db.selectFrom("expressionState as e").select(["e.id", "e.expr", "e.metadata"])
      .where("e.id", "in", some).execute();
    if (rows.length < some.length) throw new Damage("the block that made a variable is missing");
    // The column returns the exact text, unless the text is blank or contains U+FFFD (see `blockCells`).
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
        const { name, kind, summary, reason, files } = variableImage(content, { ...row, result: null });
        const code = codes.get(facts[at]?.block ?? "") ?? "";
        const { scope, number: versions, createdAt } = row;
        return { name, kind, scope, summary, reason, code, versions, createdAt, ...(files ? { files } : {}) };
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

  /** Versions of sub-queries are in other branches, and do not count. */
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

async function lineageOf(
  tx: Database,
  branchId: string,
  { at }: { readonly at: BranchPoint | undefined },
): Promise<Lineage> {
  return at ? await readLineageAt(tx, await readPoint(tx, { ...at, action: "show" })) : await readLineage(tx, branchId);
}

export async function readDependencies(db: Database, branchId: string): Promise<readonly Dependency[]> {
  return await db.read(async (tx) => {
    const branches = (await readLineage(tx, branchId)).map((segment) => segment.branchId);
    const pairs = new Map<string, Dependency>();
    for (const edge of await readEdges(tx, branches)) pairs.set(`${edge.name} ${edge.reads}`, edge);
    return [...pairs.values()].sort((a, b) => compare(a.name, b.name) || compare(a.reads, b.reads));
  });
}

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
  readonly requires: readonly string[];
  readonly reads: readonly string[];
}

/** A node follows its requirements and reads, as far as cycles allow. Names outside the list do not count. */
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

/** If the requirements of all nodes are open, Vis follows them to a node on a cycle. The nodes that depend on the cycle
 * must come later. */
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

interface VariableSoulMetadata {
  readonly scope?: "system";
  readonly inheritedFrom?: string;
  readonly before?: number;
}

/** `number` is 1 for the first version, and counts versions of ancestors. */
interface VersionRow extends Pick<DatabaseSchema["expressionState"], "expr" | "result" | "metadata" | "createdAt"> {
  readonly soulId: string;
  readonly name: string | null;
  readonly number: number;
}

interface NewestRow extends VersionRow {
  readonly scope: VariableHead["scope"];
  readonly iterationId: string | null;
}

type Place = readonly number[];
type FoundRow = Awaited<ReturnType<typeof newestOf>>[number];

/** The variable with the newest version comes first. A version of the branch precedes a version of an ancestor. */
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

/** The end of an iteration stores changes of scope after versions, so at the same place the change counts. */
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

async function shownVersions(
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

export interface VariableMetadata extends Omit<VariableImage, "name" | "bytes" | "kind">, ValueCheck {
  readonly kind: VariableImage["kind"] | "text";
  readonly block: string | null;
  readonly order: number;
}

type ExpressionState = DatabaseSchema["expressionState"];
type Cells = Pick<ExpressionState, "expr" | "result" | "metadata">;

/** `expr` contains the source of a function or class, so that a search finds it. */
async function variableCells(
  content: Content,
  { image, block, order, before }: {
    readonly image: VariableImage;
    readonly block: string | null;
    readonly order: number;
    readonly before: Cells["result"];
  },
): Promise<Cells> {
  const { name: _name, bytes, source, ...rest } = image;
  const declared = (image.kind === "function" || image.kind === "class") && source.trim() !== "";
  const expr = declared ? searchText(source) : null;
  const metadata = { ...rest, ...(expr === source ? {} : { source }), block, order, ...content.checkOf(bytes) };
  return {
    expr,
    result: bytes.length === 0 ? null : await content.putBytes(bytes, before),
    metadata: await content.putText(toJson(metadata)),
  };
}

async function systemCells(content: Content, text: string): Promise<Cells> {
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
    ...content.checkOf(bytes),
  };
  return {
    expr: null,
    result: await content.putBytes(bytes),
    metadata: await content.putText(toJson(metadata)),
  };
}

/** The caller must load the cells into `content` first. */
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
    ...(facts.files ? { files: facts.files } : {}),
  };
}

export async function loadValues(content: Content, rows: readonly Pick<Cells, "result" | "metadata">[]): Promise<void> {
  await content.load(rows.map(({ metadata }) => metadata));
  const small = rows.filter(({ metadata }) =>
    fromJson<VariableMetadata>(content.text(metadata ?? "{}")).large === undefined
  );
  await content.load(small.map(({ result }) => result));
}

type NewCells = Awaited<ReturnType<typeof variableCells>>;

export interface WriterFacts extends BranchMoment {
  readonly iterationId: string;
}

export class VariableWriter {
  readonly #content: Content;
  readonly #facts: WriterFacts;
  readonly #souls: VariableSouls;

  constructor(content: Content, facts: WriterFacts) {
    this.#content = content;
    this.#facts = facts;
    this.#souls = new VariableSouls(content.db, facts);
  }

  /** The caller must pass the names to `prepare` before `versions`, `systemVersion`, `edges` and `scopes`. */
  async prepare(names: readonly string[]): Promise<void> {
    await this.#souls.prepare(names);
  }

  async versions(saved: StoredBlock["saved"], block: string): Promise<void> {
    for (const [order, image] of saved.entries()) {
      const before = this.#souls.get(image.name)?.result ?? null;
      const cells = await variableCells(this.#content, { image, block, order, before });
      await this.#insert(await this.#souls.own(image.name), cells);
    }
  }

  async given(images: readonly VariableImage[]): Promise<void> {
    await this.prepare(images.map(({ name }) => name));
    for (const [order, image] of images.entries()) {
      const { name, large } = image;
      if (large !== undefined) await releaseClaim(this.#content.db, { name, large });
      const cells = await variableCells(this.#content, { image, block: null, order, before: null });
      await this.#insert(await this.#souls.own(name), {
        ...cells,
        result: large === undefined ? cells.result : this.#content.db.dialect.largeCell(large),
      });
    }
  }

  async copied(rows: readonly { readonly name: string; readonly cells: NewCells }[]): Promise<void> {
    for (const { name, cells } of rows) await this.#insert(await this.#souls.own(name), cells);
  }

  async systemVersion(name: string, text: string): Promise<void> {
    await this.#insert(await this.#souls.own(name), await systemCells(this.#content, text));
  }

  /** The caller must write the other rows of the iteration first. */
  async scopes({ live, forgotten }: NonNullable<IterationEnd["scopes"]>, at: Moment): Promise<void> {
    const facts = { db: this.#content.db, souls: this.#souls, at, now: this.#facts.now };
    await writeScopes(live, { ...facts, scope: "live" });
    await writeScopes(forgotten, { ...facts, scope: "forgotten" });
  }

  async edges(block: StoredBlock): Promise<void> {
    const readsOf = (name: string): readonly string[] => block.madeFrom?.get(name) ?? block.reads;
    const made = new Map(block.saved.map(({ name, requires }) => [name, [...readsOf(name), ...requires]]));
    for (const name of block.result.defined) if (!made.has(name)) made.set(name, [...readsOf(name)]);
    const pairs = new Map<string, readonly [string, string]>();
    for (const [name, reads] of made) {
      const down = await this.#soulOf(name);
      for (const read of reads) {
        const up = await this.#soulOf(read);
        if (down !== undefined && up !== undefined && up !== down) pairs.set(`${down} ${up}`, [down, up]);
      }
    }
    await this.#insertEdges(pairs);
  }

  /** Both ends of an edge must be in this branch, so an inherited variable gets its own row. */
  async #soulOf(name: string): Promise<string | undefined> {
    const soul = this.#souls.get(name);
    return soul && (await this.#souls.own(name)).id;
  }

  async #insertEdges(pairs: Map<string, readonly [string, string]>): Promise<void> {
    if (pairs.size === 0) return;
    const known = await this.#content.db.selectFrom("expressionDependency")
      .select(["downstreamExpressionSoulId as down", "upstreamExpressionSoulId as up"])
      .where("downstreamExpressionSoulId", "in", [...new Set([...pairs.values()].map(([down]) => down))])
      .where("upstreamExpressionSoulId", "in", [...new Set([...pairs.values()].map(([, up]) => up))]).execute();
    for (const { down, up } of known) pairs.delete(`${down} ${up}`);
    const metadata = toJson({ iteration: this.#facts.iterationId });
    for (const [down, up] of pairs.values()) {
      await insertRow(this.#content.db, "expressionDependency", {
        id: newId(),
        conversationStateId: this.#facts.branchId,
        downstreamExpressionSoulId: down,
        upstreamExpressionSoulId: up,
        metadata,
        createdAt: this.#facts.now,
      });
    }
  }

  async #insert(soul: VariableRow, cells: NewCells): Promise<void> {
    await insertRow(this.#content.db, "expressionState", {
      id: newId(),
      expressionSoulId: soul.id,
      iterationId: this.#facts.iterationId,
      version: soul.version++,
      success: 1,
      ...cells,
      error: null,
      stdout: null,
      stderr: null,
      durationMs: null,
      createdAt: this.#facts.now,
    });
    soul.result = cells.result;
  }
}

const SYSTEM: ReadonlySet<string> = new Set(SYSTEM_VARIABLES);

interface VariableRow {
  readonly id: string;
  readonly metadata: VariableSoulMetadata;
  version: number;
  result: DatabaseSchema["expressionState"]["result"];
  /** `own` is false while the row belongs to an ancestor, before this branch changes the variable. */
  readonly own: boolean;
}

const ownVariables = namedQuery((db, { branchId, names }: { readonly branchId: string; readonly names: string }) =>
  // With a subquery in a condition, PostgreSQL would use no index, because it applies policies first.
  db.with((table) => table("v").materialized(), (named) =>
    named.selectFrom("expressionSoul as o").select(["o.id", "o.name", "o.metadata", "o.conversationStateId"])
      .select((one) =>
        one.selectFrom("expressionState as n").select("n.id").whereRef("n.expressionSoulId", "=", "o.id")
          .orderBy("n.version", "desc").limit(1).as("newestId")
      )
      .where("o.conversationStateId", "=", branchId).where(db.dialect.isListed("o.name", names)))
    .selectFrom("v").leftJoin("expressionState as e", "e.id", "v.newestId")
    .select(["v.id", "v.name", "v.metadata", "e.version as newest", "e.result"])
);

interface BranchMoment {
  readonly branchId: string;
  readonly parentId?: string | null | undefined;
  readonly now: number;
}

class VariableSouls {
  readonly #db: Database;
  readonly #at: BranchMoment;
  readonly #souls = new Map<string, VariableRow>();

  constructor(db: Database, at: BranchMoment) {
    this.#db = db;
    this.#at = at;
  }

  async prepare(names: readonly string[]): Promise<void> {
    const wanted = [...new Set(names)].filter((name) => !this.#souls.has(name));
    if (wanted.length === 0) return;
    const own = await ownVariables(this.#db, {
      branchId: this.#at.branchId,
      names: JSON.stringify(wanted.map(searchText)),
    });
    for (const { id, name, metadata, newest, result } of own) {
      if (name === null) continue;
      const facts: VariableSoulMetadata = fromJson<VariableSoulMetadata>(metadata);
      this.#souls.set(name, { id, metadata: facts, version: (newest ?? -1) + 1, result, own: true });
    }
    const others = wanted.filter((name) => !this.#souls.has(name));
    if (others.length > 0) await this.#lookBack(others);
  }

  get(name: string): VariableRow | undefined {
    return this.#souls.get(name);
  }

  async own(name: string): Promise<VariableRow> {
    const known = this.#souls.get(name);
    if (known?.own) return known;
    const soul = await this.#made(name, known);
    this.#souls.set(name, soul);
    return soul;
  }

  async #made(name: string, known: VariableRow | undefined): Promise<VariableRow> {
    const metadata: VariableSoulMetadata = { ...known?.metadata, ...(SYSTEM.has(name) ? { scope: "system" } : {}) };
    const id = newId();
    await insertRow(this.#db, "expressionSoul", {
      id,
      conversationStateId: this.#at.branchId,
      kind: "var",
      stateMode: "stateful",
      name,
      metadata: toJson({ ...metadata }),
      createdAt: this.#at.now,
    });
    return { id, metadata, version: 0, result: known?.result ?? null, own: true };
  }

  async #lookBack(names: readonly string[]): Promise<void> {
    const { branchId, parentId } = this.#at;
    const lineage = parentId === null ? [{ branchId, until: null }] : await readLineage(this.#db, branchId);
    if (lineage.length === 1) return;
    for (const { name, soulId, number, result } of await newestVariables(this.#db, { lineage, names })) {
      if (name === null) continue;
      const metadata = { inheritedFrom: soulId, before: number };
      this.#souls.set(name, { id: "", metadata, version: 0, result, own: false });
    }
  }
}

/** Position -1 is before the first iteration. Without a run, the moment is before the queries of the branch. */
export interface Moment {
  readonly queryId: string | null;
  readonly position: number;
}

async function writeScopes(
  names: readonly string[],
  { db, souls, at, scope, now }: {
    readonly db: Database;
    readonly souls: VariableSouls;
    readonly at: Moment;
    readonly scope: "live" | "forgotten";
    readonly now: number;
  },
): Promise<void> {
  for (const name of names) {
    const known = souls.get(name);
    if (!known || known.metadata.scope === "system") continue;
    const soul = await souls.own(name);
    await insertRow(db, "scopeChange", {
      expressionSoulId: soul.id,
      queryStateId: at.queryId,
      position: at.position,
      scope,
      createdAt: now,
    });
  }
}

export async function newestMoment(db: Database, branchId: string): Promise<Moment> {
  const run = await newestRun(db, branchId);
  if (!run) return { queryId: null, position: -1 };
  const last = await lastIteration(db, run.id);
  return { queryId: run.id, position: last?.position ?? -1 };
}
