import { Semaphore } from "../domain/kit/semaphore.ts";
import { oneLine } from "../domain/text/clip.ts";
import { HostCallError } from "../domain/errors.ts";
import type { Emit } from "../domain/query/query_event.ts";
import type { QueryResult } from "../domain/query/query_result.ts";
import { Environment } from "../environment/environment.ts";
import type { ChildOptions, ChildResult } from "../extension/spec.ts";
import { unpricedText } from "../providers/router/named_routes.ts";
import { unpricedRoute } from "./chosen_route.ts";
import type { Ledger } from "./ledger.ts";
import type { QueryApprovals } from "./query_approvals.ts";
import type { QueryParts } from "./query_parts.ts";

const MAX_QUERY_DEPTH = 5;
/** Concurrent child queries per depth; each has its own process. A query waits only for deeper ones, so the deepest can
 * always continue. */
const AT_ONCE = 8;
const DEPTHS = Array.from({ length: MAX_QUERY_DEPTH }, () => new Semaphore(AT_ONCE));

export interface ChildParts {
  readonly parts: QueryParts;
  readonly ledger: Ledger;
  readonly approvals: QueryApprovals;
  readonly emit: Emit;
  readonly onChange: (diff: string) => void;
  readonly parentQueryId: string;
  readonly run: (
    task: string,
    parts: QueryParts,
    options: {
      readonly signal: AbortSignal;
      readonly emit: Emit;
      readonly label: string;
      readonly ledger: Ledger;
      readonly approvals: QueryApprovals;
      readonly model: string | null;
      readonly onChange: (diff: string) => void;
      readonly parentQueryId: string;
    },
  ) => Promise<QueryResult>;
}

/** Runs a query within another one, with its own branch, sandbox and rows, below the iteration that called. Rejects
 * with `HostCallError` if it cannot begin; how it ended is returned as a value. */
export async function childQuery(
  task: string,
  options: ChildOptions & { readonly signal: AbortSignal },
  child: ChildParts,
): Promise<ChildResult> {
  const { environment, settings } = child.parts;
  const depth = environment.depth + 1;
  const allowed = Math.min(MAX_QUERY_DEPTH, settings.depth ?? 1);
  if (depth > allowed) {
    throw refused(
      `Cannot run a child query at depth ${depth}: the limit is ${allowed}`,
      "plain calls of a model work at every depth",
    );
  }
  if (task.trim() === "") throw refused("Cannot run a child query without a task");
  const iterationId = environment.iterationId;
  if (iterationId === null) throw refused("Cannot run a child query outside an iteration");
  const unpriced = child.ledger.priced ? unpricedRoute(child.parts.router.routes, options.model ?? null) : null;
  if (unpriced) throw refused(`Cannot run a child query with ${unpriced.model}: ${unpricedText(unpriced)}`);
  const gate = DEPTHS[depth - 1];
  if (!gate) throw refused(`Cannot run a child query at depth ${depth}`);
  const { images, copies } = await environment.fork(options.vars ?? []);
  child.ledger.countSubcall("run");
  return await gate.run(async () => {
    const branch = await environment.store.createChildBranch({
      branchId: environment.branch.branchId,
      iterationId,
      depth,
      title: oneLine(task, 100),
      images,
      copies,
    });
    const { userQueryId = child.parentQueryId } = environment.views.view();
    const own = await Environment.open({ ...child.parts, branch, depth, parentIterationId: iterationId, userQueryId });
    try {
      const parts = childParts(child.parts, { environment: own, options });
      const { status, reason, answer } = await child.run(task, parts, {
        signal: options.signal,
        emit: child.emit,
        label: `child ${depth}`,
        ledger: child.ledger.child(),
        approvals: child.approvals,
        model: options.model ?? null,
        onChange: child.onChange,
        parentQueryId: child.parentQueryId,
      });
      return { status, reason, answer };
    } finally {
      await own.close();
    }
  }, options.signal);
}

const FOR_CODE = "This is a sub-task. Code reads its answer: give what is asked and nothing else.";

function childParts(
  parts: QueryParts,
  { environment, options }: { readonly environment: Environment; readonly options: ChildOptions },
): QueryParts {
  const { settings, steering: _ofTheUser, between: _ofTheQuery, ...rest } = parts;
  const budget = options.maxIterations ?? settings.budget;
  const instructions = settings.instructions.includes(FOR_CODE)
    ? settings.instructions
    : [settings.instructions, FOR_CODE].filter((text) => text !== "").join("\n\n");
  return { ...rest, environment, settings: { ...settings, budget, instructions } };
}

function refused(message: string, hint?: string): HostCallError {
  return new HostCallError(message, { namespace: "vis", symbol: "run", ...(hint ? { hint } : {}) });
}
