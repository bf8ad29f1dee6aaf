import type { QueryIterations } from "../domain/records/conversation_maintenance.ts";
import { UsageError } from "../domain/errors.ts";
import type { BranchPoint } from "../domain/records/new_fork.ts";
import type { Branch } from "../persistence/store/conversation_store.ts";
import type { Store } from "../persistence/store/store.ts";

const PLACE = /^(\d{1,9})(?:\.(\d{1,9}))?$/;

export interface FoundPoint {
  /** The branch by which it was named. */
  readonly branch: Branch;
  readonly point: BranchPoint;
}

/** A moment named by people. `id`: of a conversation, a branch or a query, or a prefix of one. `at`, for a conversation
 * or branch: N is after iteration N of all that it shows, counted from 1, and Q.I is after iteration I of query Q; 0 is
 * before the first iteration. For a query: N is after iteration N of it. Without `at` it is the end. Throws
 * `UsageError`. */
export async function findPoint(
  store: Store,
  { id, at }: { readonly id: string; readonly at: string | null },
): Promise<FoundPoint> {
  const place = at === null ? null : PLACE.exec(at);
  if (at !== null && !place) {
    throw new UsageError(`Cannot find iteration ${at}: write N, or QUERY.ITERATION, such as 3 or 2.1`);
  }
  const [, first, second] = place ?? [];
  const branch = await store.findConversation(id);
  if (!branch) return await inQuery(store, { id, first, second });
  const turns = await store.turns(branch.branchId);
  if (turns.length === 0) throw new UsageError(`Cannot use conversation ${id}: it has no query yet`);
  if (first === undefined) return { branch, point: end(turns) };
  return { branch, point: second === undefined ? nth(turns, Number(first)) : within(turns, Number(first), { second }) };
}

type Place = { readonly id: string; readonly first: string | undefined; readonly second: string | undefined };

async function inQuery(store: Store, { id, first, second }: Place): Promise<FoundPoint> {
  const queryId = await store.findQuery(id);
  const query = queryId === null ? null : await store.query(queryId);
  const branch = query && await store.findConversation(query.branchId);
  if (!query || !branch) throw new UsageError(`Cannot find conversation, branch or query: ${id}`);
  if (second !== undefined) throw new UsageError(`Cannot find iteration ${first}.${second} of one query: write N`);
  return { branch, point: { queryId: query.queryId, position: first === undefined ? null : Number(first) - 1 } };
}

function end(turns: readonly QueryIterations[]): BranchPoint {
  const { queryId, iterations } = turns[turns.length - 1] ?? none(0, 0);
  return { queryId, position: iterations - 1 };
}

function nth(turns: readonly QueryIterations[], n: number): BranchPoint {
  let left = n;
  for (const { queryId, iterations } of turns) {
    if (left <= iterations && (left > 0 || n === 0)) return { queryId, position: left - 1 };
    left -= iterations;
  }
  return none(n, n - left);
}

function within(
  turns: readonly QueryIterations[],
  query: number,
  { second }: { readonly second: string },
): BranchPoint {
  const turn = turns[query - 1];
  if (!turn) throw new UsageError(`Cannot find query ${query}: there are ${turns.length}`);
  if (Number(second) > turn.iterations) none(`${query}.${second}`, turn.iterations);
  return { queryId: turn.queryId, position: Number(second) - 1 };
}

function none(iteration: number | string, known: number): never {
  throw new UsageError(`Cannot find iteration ${iteration}: there are ${known}`);
}
