import { z } from "zod";
import type { Frozen, JsonValue } from "../kit/json.ts";
import { DECISIONS, OUTCOMES, QUERY_REASONS, QUERY_STATUSES, READING_MODES } from "./outcomes.ts";

const count = z.number().int().min(0);
const whole = z.number().int();
const block = whole.describe("Index in the iteration, 0-based");
const position = whole.nullable().describe("1-based; null if unknown");

const UsageSchema = z.object({
  input: count,
  output: count,
  cached: count.describe("Part of input that was read from a prefix cache"),
  cacheWrite: count.optional().describe("Part of input that was written to a cache"),
  reasoning: count.describe("Part of output that was reasoning"),
  calls: count,
  searches: count.optional().describe("Number of web searches by the service, which it charges separately"),
  estimated: count.optional().describe(
    "Number of calls whose input or output is estimated from their texts, because the provider did not count the tokens",
  ),
}).describe("Tokens as counted by the provider, or estimated");

export type Usage = Frozen<z.infer<typeof UsageSchema>>;

const WorkSchema = z.object({
  files: count.describe("Number of files that were changed"),
  added: count.describe("Lines that were added to files"),
  removed: count.describe("Lines that were removed from files"),
  commands: z.array(z.object({ command: z.string(), exitCode: whole.nullable(), outcome: z.string() }))
    .describe(
      "Outcome of the last run of each command, in the order of the runs. Of more than 20 commands, the list has failed commands first, then commands with an outcome, then the newest. If the exit code of a command hides that a part failed, exitCode is the exit code of this part. For a command that still ran, exitCode is null and outcome is empty. A failed call of a function that commits, for example, also counts as a command, without an exit code",
    ),
  others: z.array(z.string()).describe("Other changes, in words; the newest 20"),
  changed: z.string().optional().describe("The changed files in words; absent without them"),
  text: z.string().describe("All facts in one line for people; empty if there are none"),
  did: z.string().optional().describe(
    "The calls of all steps in words, such as ✓ read 3 files, ✗ ran npm test · exit code 1; absent without such calls",
  ),
  noUndo: z.literal(true).optional().describe(
    "Present if an undo would revert nothing, such as after a git commit of every changed file",
  ),
}).describe("Work of the query and its sub-queries");

export type Work = Frozen<z.infer<typeof WorkSchema>>;

export const QueryResultSchema = z.object({
  status: z.enum(QUERY_STATUSES),
  reason: z.enum(QUERY_REASONS).describe("Reason of the end"),
  answer: z.string().describe("The answer, or the reason why the answer is missing"),
  answerType: z.enum(["text", "markdown"]),
  confidence: z.enum(["high", "medium", "low"]).nullable()
    .describe(
      "Confidence that the model states, or low for an answer that Vis doubts; null if the model states none, and without an answer",
    ),
  queryId: z.string(),
  conversationId: z.string(),
  iterations: z.number().int().min(0),
  usage: UsageSchema,
  costUsd: z.number().nullable().describe("Cost in US dollars; null after a call of a model with an unknown price"),
  ms: z.number(),
  notes: z.array(z.string()),
  noAnswer: z.literal(true).optional().describe(
    "Present if `answer` contains only the reason why the answer is missing",
  ),
  temporary: z.literal(true).optional().describe(
    "Present if the cause of the failure is temporary, so that the same request may succeed later",
  ),
  work: WorkSchema.optional().describe("Absent if Vis did not record the work"),
  only: z.enum(READING_MODES).optional().describe(
    "Present if calls that could change something were refused: a plan, a review, or a question beside the work",
  ),
  value: (z.unknown() as z.ZodType<JsonValue>).optional().describe("The answer as data, if the request had a schema"),
}).describe("Result of a query");

export type QueryResult = Frozen<z.infer<typeof QueryResultSchema>>;
export interface QueryEnd extends Omit<QueryResult, "queryId" | "conversationId" | "value"> {
  readonly idle?: true;
}
export type AnswerType = QueryResult["answerType"];
export type Confidence = QueryResult["confidence"];

const callOk = z.boolean().describe(
  "False if the call threw or failed in its purpose: for example, its command failed, or its sub-query has no answer",
);
export const toldOfCall = {
  action: z.object({
    doing: z.string(),
    done: z.string(),
    things: z.string(),
    subject: z.string(),
    subjects: z.array(z.string()).optional().describe("The objects of a call with several objects, at most 100"),
  }).optional().describe("Words for the call, such as reading, read, files, src/app.ts"),
  outcome: z.string().optional().describe("Outcome in a few words, such as 12 passed"),
  refusedByUser: z.boolean().optional().describe("True if the call failed because the user refused it"),
  output: z.string().optional().describe("The end of the output, or the message of the error, if the call failed"),
  hint: z.string().optional().describe("Lines that explain how a failed call could succeed"),
  kept: z.string().optional().describe("The variable that has all of a long output"),
  exitCode: z.number().int().nullable().optional().describe(
    "The exit code of the command that the call ran; null for a command without an exit code",
  ),
  unfinished: z.boolean().optional().describe(
    "True if a later call must finish the work, such as a merge with conflicts; false if this call finishes such work",
  ),
  partOf: z.string().optional().describe("A later call that finished this work contains the call"),
  changes: z.enum(["files", "other"]).optional()
    .describe("Present if the call may have changed files or other lasting things"),
};

export const BlockResultSchema = z.object({
  ok: z.boolean(),
  /** `none` means that the block ran, and its last statement has no value. */
  outcome: z.enum(["value", "none", "error", "refused", "timeout", "killed", "memory", "cancelled"]),
  preview: z.string().describe("The value as text, of bounded length"),
  type: z.string(),
  size: z.number().nullable(),
  stdout: z.string(),
  stderr: z.string(),
  dropped: count.describe("Number of characters of output that were dropped"),
  error: z.object({
    name: z.string(),
    message: z.string(),
    advice: z.string().optional()
      .describe("The end of the message for the model, which can name functions and options"),
    line: position,
    column: position,
    excerpt: z.string(),
    stack: z.string(),
  }).nullable(),
  defined: z.array(z.string()),
  touched: z.array(z.string()),
  pending: z.array(z.string()),
  lost: z.array(z.string()),
  ms: z.number(),
  timedOut: z.boolean(),
  repaired: z.string().nullable(),
  /** The list has at most 1,000 calls: calls that ended with the block, then calls that ended later. Of the calls that
   * ended with the block, only the first 100 have `action`, `outcome` and `output`. */
  calls: z.array(z.object({ name: z.string(), ms: z.number(), ok: callOk, ...toldOfCall })),
}).describe("Result of a block");

export type BlockResult = Frozen<z.infer<typeof BlockResultSchema>>;
export type BlockOutcome = BlockResult["outcome"];
export type BlockError = NonNullable<BlockResult["error"]>;
export type BlockCall = BlockResult["calls"][number];

const envelope = {
  seq: whole.describe("Number of the event within its query, 1-based"),
  at: whole.describe("Time in milliseconds since the epoch"),
  queryId: z.string(),
  parentQueryId: z.string().optional().describe("For a sub-query: the query whose block started it"),
  iteration: whole.nullable().describe("1-based; null outside an iteration"),
};

function event<T extends string, S extends z.ZodRawShape>(type: T, body: S) {
  return z.object({ type: z.literal(type), ...body, ...envelope });
}

export const ApprovalQuestionSchema = z.object({
  id: z.string().describe("Id of the question, which the answer names"),
  extension: z.string().describe("Namespace of the extension that asks"),
  what: z.string().describe("The planned action as a phrase, such as run a command with access to the network"),
  exact: z.string().optional().describe("The exact text of the action, such as its command line or its address"),
  change: z.string().optional().describe("The planned change of files as a unified diff"),
  why: z.string(),
  scope: z.string().describe("The permission of a lasting approval as a phrase, such as network for npm ci …"),
  scopes: z.array(z.string()).optional().describe("The rules that a lasting approval keeps; `scope` alone if absent"),
  lasting: z.boolean().optional().describe("False if the only answers are once and no; true if absent"),
  once: z.literal("request").optional().describe("If present, the answer once is for the whole request"),
});

export const PlanItemSchema = z.object({
  text: z.string(),
  state: z.enum(["done", "now", "open"]).describe("`now` marks the current task"),
});

export type PlanItem = Frozen<z.infer<typeof PlanItemSchema>>;

export const KeptRuleSchema = z.object({
  id: z.string(),
  tenant: z.string().describe("Tenant whose conversations the permission concerns"),
  workspace: z.string(),
  conversationId: z.string().nullable().describe(
    "The only conversation of the permission; null for all conversations of the workspace",
  ),
  extension: z.string().describe("Namespace"),
  scope: z.string().describe("The permission as a phrase"),
  at: z.string().describe("ISO 8601"),
});

export type KeptRule = Frozen<z.infer<typeof KeptRuleSchema>>;
export type ApprovalRule = Omit<KeptRule, "id" | "at">;

/** This object is the data of a server-sent event, and a line of `vis run --output jsonl`. */
export const QueryEventSchema = z.discriminatedUnion("type", [
  event("started", { conversationId: z.string(), request: z.string(), model: z.string() }),
  event("iteration_started", {
    used: whole.describe("Iterations that count against the budget, this one included"),
    budget: whole.describe("Number of iterations that the query may use before it must ask for more"),
  }),
  event("steering", { texts: z.array(z.string()) }).describe(
    "The messages of the user that wait for the next iteration, oldest first; this list replaces the earlier list",
  ),
  event("steered", { text: z.string() }).describe("A message of the user that this iteration shows to the model"),
  event("thinking", { delta: z.string() }),
  event("code", { block, delta: z.string() }),
  event("block_started", { block, code: z.string() }),
  event("block_finished", { block, result: BlockResultSchema }),
  event("host_call", {
    block,
    name: z.string(),
    phase: z.enum(["start", "end"]),
    limitMs: z.number().optional().describe("The time limit of a command, at its start"),
    ms: z.number().optional(),
    ok: callOk.optional(),
    ...toldOfCall,
    diffs: z.array(z.string()).optional().describe("File changes, each as a unified diff"),
  }),
  event("plan", { items: z.array(PlanItemSchema) }).describe(
    "A block has changed $plan, the list of tasks that the model keeps; this list replaces the earlier list",
  ),
  event("call_output", {
    block,
    output: z.string().describe("The newest lines, 5 at most; each event replaces the earlier lines"),
  }).describe(
    "Output of a call that has run for a second. Vis sends this event up to five times a second; stored steps omit it",
  ),
  /** An `approval_answered` with the same id follows, unless the query ends first. */
  event("approval_requested", ApprovalQuestionSchema.shape),
  event("approval_answered", {
    id: z.string(),
    decision: z.enum(DECISIONS),
    reason: z.string().describe("Reason of a refusal"),
  }),
  event("nudge", { lines: z.array(z.string()) }),
  event("retrying", {
    reason: z.string().describe("Reason of the pause, such as a failed call"),
    waitMs: z.number().describe("Time until the next attempt"),
    attempt: z.number().int().describe("Number of the next attempt, 1-based"),
  }),
  event("waiting", {
    model: z.string().describe("The model that has not begun to reply"),
    waitedMs: z.number().describe("Time that the call has waited"),
    limitMs: z.number().describe("Time of the call at which Vis stops it, if no more data arrives"),
  }),
  event("usage", { usage: UsageSchema }),
  event("iteration_finished", {
    outcome: z.enum(OUTCOMES),
    reason: z.string().nullable(),
    ms: z.number(),
  }),
  event("answer_draft", {
    delta: z.string(),
    again: z.boolean().optional().describe(
      "Whether Vis withdraws the draft so far, because it requests the reply again",
    ),
  }).describe(
    "A piece of an answer while the model writes it. If the iteration finishes with another " +
      "outcome than final, Vis withdraws the draft; answer_delta replaces the draft",
  ),
  event("answer_delta", { delta: z.string() }),
  event("final", { result: QueryResultSchema }),
  event("failed", { result: QueryResultSchema }),
  event("cancelled", { result: QueryResultSchema }),
]).describe(
  "Event of a query; at most one event of a query is final, failed or cancelled, and this event is the last. Events " +
    "of a sub-query arrive among the events of the query, and have parentQueryId",
);

export type QueryEvent = Frozen<z.infer<typeof QueryEventSchema>>;

type WithoutEnvelope<T> = T extends unknown ? Omit<T, "seq" | "at" | "queryId" | "parentQueryId" | "iteration"> : never;
export type QueryEventBody = WithoutEnvelope<QueryEvent>;
