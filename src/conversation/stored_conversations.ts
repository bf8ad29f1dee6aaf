import { HostCallError, UsageError, withoutAdvice } from "../domain/errors.ts";
import { isGone } from "../domain/kit/files.ts";
import { readableHead } from "../domain/kit/json.ts";
import { countedChoice, oneLine } from "../domain/kit/text.ts";
import { PLAN_VARIABLE, planOf } from "../domain/query/plan.ts";
import type { PlanItem } from "../domain/query/query_schemas.ts";
import type { VariableImage } from "../domain/query/variable.ts";
import type {
  BranchPoint,
  ExternalChat,
  ImportReport,
  NewConversation,
  QueryIterations,
} from "../domain/records/conversations.ts";
import type { StateStore } from "../domain/records/extension_state.ts";
import type { VariableDiff } from "../environment/version_diff.ts";
import type { Asked, Branch, QueryStore, Store } from "../persistence/store.ts";
import type { ArchiveCode } from "./export/read_archive.ts";

const MAX_SHOWN_BYTES = 16 * 1024 * 1024;

export interface ShownVersion {
  readonly name: string;
  readonly version: number;
  readonly kind: VariableImage["kind"];
  readonly shape: string;
  readonly reason: string;
  readonly code: string;
  readonly createdAt: number;
  readonly shown: { readonly value: unknown } | null;
}

export class Records {
  readonly #store: Store;
  readonly #own: Store;

  constructor(store: Store, own: Store) {
    this.#store = store;
    this.#own = own;
  }

  get states(): StateStore {
    return this.#own.states;
  }

  async point(id: string, at: string | null = null): Promise<FoundPoint> {
    return await findPoint(this.#store, id, at);
  }

  async running(conversationId: string): Promise<string | null> {
    const read = () => this.#store.runningQuery(conversationId);
    return await readSettled(this.#store, read, (found) => found !== null);
  }

  async query(queryId: string): ReturnType<Store["query"]> {
    const read = () => this.#store.query(queryId);
    return await readSettled(this.#store, read, (found) => found?.running ?? false);
  }

  async queryId(id: string): Promise<string> {
    const found = await this.#store.findQuery(id);
    if (found === null) {
      throw new UsageError(
        `Cannot find request ${id}: no single request has an id that begins like this; write at least 8 ` +
          "characters, or the whole id",
      );
    }
    return found;
  }

  async askedAs(queryId: string): Promise<Asked | null> {
    return (await this.#store.queryExtras(queryId)).askedAs;
  }

  async ensure(facts: NewConversation & ExternalChat): Promise<Branch> {
    return await this.#own.ensureConversation({ ...facts, title: oneLine(facts.title, 100) });
  }

  async find(chat: ExternalChat): Promise<Branch | null> {
    return await this.#own.findExternal(chat);
  }

  async rename(branch: Branch, title: string): Promise<string> {
    const short = oneLine(title, 100);
    if (short === "") throw new UsageError("Cannot rename the conversation: the new title is empty; write a title");
    await this.#store.setTitle(branch.branchId, short);
    return short;
  }

  async follow(branch: Branch, { workspace, isChosen, note }: Followed): Promise<Branch> {
    const from = branch.workspace, gone = isGone(from);
    if (from === workspace || !(gone || isChosen)) return branch;
    if (await this.running(branch.conversationId) !== null) return branch;
    await this.#store.setWorkspace(branch.conversationId, workspace);
    note(`The conversation moved to ${workspace} from ${from}${gone ? ", which is gone" : ""}`);
    return { ...branch, workspace };
  }

  async versions(
    branch: Branch,
    { name, newest, at }: { readonly name: string; readonly newest: number; readonly at?: BranchPoint | undefined },
  ): Promise<readonly ShownVersion[]> {
    const { valueOf } = await import("../environment/conversation_history.ts");
    const options = { newest, ...(at ? { at } : {}) };
    const found = await this.#store.variableVersions(branch.branchId, name, options);
    if (found.length === 0) {
      const when = at ? " at this step" : "";
      throw new UsageError(
        `Cannot find variable ${name}: the conversation has no such variable${when}; vis vars lists the variables`,
      );
    }
    return found.map(({ version, image, code, createdAt }) => {
      const { kind, reason, bytes, source, large, summary: { shape } } = image;
      const shown = large === undefined && bytes.length + source.length <= MAX_SHOWN_BYTES;
      return { name, version, kind, shape, reason, code, createdAt, shown: shown ? { value: valueOf(image) } : null };
    });
  }

  async plan(branch: Branch): Promise<{ readonly at: number; readonly items: readonly PlanItem[] } | null> {
    try {
      const [kept] = await this.versions(branch, { name: PLAN_VARIABLE, newest: 1 });
      const items = planOf(kept?.shown?.value);
      return kept === undefined || items.length === 0 ? null : { at: kept.createdAt, items };
    } catch (error) {
      if (error instanceof UsageError) return null; // The variable has no version.
      throw error;
    }
  }

  async diff(
    branch: Branch,
    { name, from, to }: { readonly name: string; readonly from: number; readonly to: number },
  ): Promise<VariableDiff> {
    const { varDiff } = await import("../environment/conversation_history.ts");
    try {
      return await varDiff(this.#store, { branchId: branch.branchId, name, from, to });
    } catch (error) {
      throw error instanceof HostCallError ? new UsageError(withoutAdvice(error), { cause: error }) : error;
    }
  }

  /** For an archive with code, Vis first calls `trust`, and `trust` rejects to prevent the import. */
  async import(
    file: AsyncIterable<Uint8Array> | string,
    { workspace, trust }: { readonly workspace: string; readonly trust: (code: ArchiveCode) => Promise<void> },
  ): Promise<ImportReport> {
    const { archiveCode, LongStrings, readArchiveFile } = await import("./export/read_archive.ts");
    using strings = await LongStrings.of(typeof file === "string" ? [new TextEncoder().encode(file)] : file);
    const { archive, contents } = readArchiveFile(strings);
    const code = archiveCode(archive.tables);
    if (code.functions.length + code.classes.length > 0) await trust(code);
    return await this.#own.importConversation(archive, { workspace, contents });
  }
}

const PLACE = /^(\d{1,9})(?:\.(\d{1,9}))?$/;

interface Followed {
  readonly workspace: string;
  readonly isChosen: boolean;
  readonly note: (text: string) => void;
}

interface FoundPoint {
  readonly branch: Branch;
  readonly point: BranchPoint;
}

/** `id` is the id of a conversation, a branch or a query, or its beginning. `at` is N for the Nth shown iteration, or
 * Q.I for iteration I of query Q. If `id` names a query, the function does not check that iteration N exists. */
export async function findPoint(store: Store, id: string, at: string | null): Promise<FoundPoint> {
  const place = at === null ? null : PLACE.exec(at);
  if (at !== null && !place) {
    throw new UsageError(
      `Cannot find step ${at}: it does not have the form N or REQUEST.STEP; write one such as 3 or 2.1`,
    );
  }
  const [, first, second] = place ?? [];
  const branch = await store.findConversation(id);
  if (!branch) return await inQuery(store, id, first, second);
  const turns = await store.turns(branch.branchId);
  if (turns.length === 0) throw new UsageError(`Cannot use ${id}: this branch has no request yet; send one first`);
  if (first === undefined) return { branch, point: endOf(turns) };
  return {
    branch,
    point: second === undefined ? nthOf(turns, Number(first)) : withinQuery(turns, Number(first), Number(second)),
  };
}

async function inQuery(store: Store, id: string, first?: string, second?: string): Promise<FoundPoint> {
  const queryId = await store.findQuery(id);
  const query = queryId === null ? null : await store.query(queryId);
  const branch = query && await store.findConversation(query.branchId);
  if (!query || !branch) {
    throw new UsageError(
      `Cannot find ${id}: no conversation, branch or request has this id, or several ids begin with it; vis conversations ` +
        "list shows the ids",
    );
  }
  if (second !== undefined) {
    throw new UsageError(
      `Cannot find step ${first}.${second}: the id names one request; write only the step, such as 3`,
    );
  }
  return { branch, point: { queryId: query.queryId, position: first === undefined ? null : Number(first) - 1 } };
}

function endOf(turns: readonly QueryIterations[]): BranchPoint {
  const { queryId, iterations } = turns[turns.length - 1] ?? noIteration(0, "the branch has no step");
  return { queryId, position: iterations - 1 };
}

function nthOf(turns: readonly QueryIterations[], n: number): BranchPoint {
  let left = n;
  for (const { queryId, iterations } of turns) {
    if (left <= iterations && (left > 0 || n === 0)) return { queryId, position: left - 1 };
    left -= iterations;
  }
  return noIteration(n, `the branch has ${countedChoice(n - left, "step", 0)}`);
}

function withinQuery(turns: readonly QueryIterations[], query: number, n: number): BranchPoint {
  const turn = turns[query - 1];
  if (!turn) {
    throw new UsageError(`Cannot find request ${query}: the branch has ${countedChoice(turns.length, "request")}`);
  }
  if (n > turn.iterations) {
    noIteration(`${query}.${n}`, `request ${query} has ${countedChoice(turn.iterations, "step", 0)}`);
  }
  return { queryId: turn.queryId, position: n - 1 };
}

function noIteration(iteration: number | string, why: string): never {
  throw new UsageError(`Cannot find step ${iteration}: ${why}`);
}

/** If `read` finds a running query, Vis ends queries whose process is gone, and reads again after such an end. */
export async function readSettled<T>(
  store: Pick<QueryStore, "sweepLost">,
  read: () => Promise<T>,
  runs: (found: T) => boolean,
): Promise<T> {
  const found = await read();
  if (!runs(found)) return found;
  return await store.sweepLost().catch(() => 0) > 0 ? await read() : found;
}

export function versionText({ shown, shape, kind, reason }: ShownVersion, limit: number): string {
  if (kind === "lost" || kind === "pending") return `${kind}${reason === "" ? "" : `: ${reason}`}`;
  return shown === null ? `${shape} (too large to show)` : readableHead(shown.value, limit);
}
