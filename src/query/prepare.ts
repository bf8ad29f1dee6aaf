import type { Emitter } from "../domain/query/query_event.ts";
import type { QueryScope } from "../environment/environment_parts.ts";
import { type ActiveExtensions, offLine } from "../extension/active.ts";
import type { IterationFrame } from "../iteration/iteration.ts";
import type { PreviousTurn } from "../persistence/store.ts";
import { callMessages, type CallPrefix, type RequestExtras } from "../prompt/call_messages.ts";
import type { ContextParts } from "../prompt/context/context_parts.ts";
import { Repetition } from "../prompt/nudges.ts";
import { assembleSystemPrompt } from "../prompt/system_prompt.ts";
import type { ModelMessage } from "../providers/provider.ts";
import { buildContext, handoverOf } from "./build_context.ts";
import type { QueryDeadline } from "./deadline.ts";
import type { Ledger } from "./ledger.ts";
import type { QueryApprovals } from "./query_approvals.ts";
import { isPlanning, type QueryParts } from "./query_parts.ts";
import { QueryState } from "./query_state.ts";
import type { Subcalls } from "./subcalls.ts";

/** Longer requests are shown as head and tail; the whole text is in `$query`. */
const SHOWN_REQUEST = { limit: 32_000, head: 16_000, tail: 4_000 };

/** A query that is stored as running, and everything that lives as long as it. */
export interface BegunQuery {
  readonly queryId: string;
  readonly request: string;
  /** When it began. */
  readonly started: number;
  /** The query before it; null for the first one of a conversation, and for a query below another one. */
  readonly before: PreviousTurn | null;
  readonly extras: RequestExtras;
  /** Aborts when the caller cancels the query or its time is over. */
  readonly signal: AbortSignal;
  readonly deadline: QueryDeadline;
  /** Their router counts each call in the ledger. */
  readonly parts: QueryParts;
  readonly state: QueryState;
  readonly ledger: Ledger;
  readonly approvals: QueryApprovals;
  readonly subcalls: Subcalls;
  readonly emitter: Emitter;
  /** Called with the unified diff of each file that the query changes, or a query below it. */
  readonly onChange: (diff: string) => void;
}

/** A query that is ready for its first call. */
export interface Prepared extends BegunQuery {
  readonly frame: IterationFrame;
  readonly active: ActiveExtensions;
  readonly handover: ContextParts["handover"];
}

/** Activates extensions, starts the sandbox in the background, and builds the stable prefix and the handover. */
export async function prepare(query: BegunQuery): Promise<Prepared> {
  const { queryId, request, parts, state, signal, emitter, extras } = query;
  const { environment, router, settings, log, now } = parts;
  const scope: QueryScope = {
    queryId,
    signal,
    planning: isPlanning(settings),
    budget: () => state.budget,
    root: () => rootOf(router),
    requestMore: (n) => state.requestMore(n),
    answer: (text, facts) => state.offer({ text, ...facts }),
    subcalls: query.subcalls,
    approve: (asked, from) => query.approvals.request(asked, { ...environment.branch, ...from, emitter }),
    onCall: (call) => (state.keepDiffs(call), emitter.send({ type: "host_call", ...call })),
    onChange: query.onChange,
  };
  const active = await environment.beginQuery(scope);
  environment.bindSystem("$query", request);
  if (extras.answerSchema?.variable) environment.bindSystem("$schema", extras.answerSchema.variable);
  const frame: IterationFrame = {
    environment,
    router,
    emitter,
    log,
    queryId,
    ...stablePrefix(request, parts, active, query.started),
    extras,
    deadlines: settings.deadlines,
    signal,
    now,
  };
  return { ...query, frame, active, handover: handoverOf(query.before) };
}

/** The messages of the first call that a request would make now. Nothing is stored, called or run. `environment` must
 * be a separate one, since its index is changed. */
export async function previewCall(
  request: string,
  { parts, extras }: { readonly parts: Omit<QueryParts, "owner">; readonly extras: RequestExtras },
): Promise<readonly ModelMessage[]> {
  const { environment, registry, router, settings, log, now } = parts;
  const active = await registry.activate(environment.view(), environment.views.own);
  environment.index.system("$query", request);
  if (extras.answerSchema?.variable) environment.index.system("$schema", extras.answerSchema.variable);
  const before = await environment.store.previousTurn(environment.branch.branchId, "");
  const context = await buildContext({
    environment,
    active,
    state: new QueryState(settings.budget, settings.ceiling),
    repetition: new Repetition(),
    caps: settings.caps,
    handover: handoverOf(before),
    steered: [],
    log,
    last: null,
  });
  const prefix = { ...stablePrefix(request, parts, active, now()), extras };
  return callMessages(prefix, { context, alternatingRoles: router.current().capabilities.alternatingRoles });
}

/** The texts that are byte-identical in all calls of a query, so that a provider's prefix cache stays valid. */
function stablePrefix(
  request: string,
  { environment, settings }: Pick<QueryParts, "environment" | "settings">,
  { blocks, example, off = [] }: Pick<ActiveExtensions, "blocks" | "example" | "off">,
  begun: number,
): Pick<CallPrefix, "system" | "request" | "example"> {
  const system = assembleSystemPrompt({
    environment: {
      ...settings.machine,
      cwd: environment.branch.workspace,
      date: new Date(begun).toISOString().slice(0, 10),
    },
    instructions: settings.instructions,
    extensions: [...blocks, offLine(off)].map((block) => ({ block })),
  });
  const text = [requestText(request), ...environment.given.texts].join("\n\n");
  return { system, request: text, example };
}

/** The request as message 2 shows it: in full, or head and tail if it would fill every call. */
function requestText(request: string): string {
  const { limit, head, tail } = SHOWN_REQUEST;
  if (request.length <= limit) return request;
  const first = request.slice(0, head).replace(/[\ud800-\udbff]$/, "");
  const last = request.slice(-tail).replace(/^[\udc00-\udfff]/, "");
  const left = request.length - first.length - last.length;
  return `${first}\n\n[… ${left} of ${request.length} characters are not shown: the whole request is the string $query; read it in code …]\n\n${last}`;
}

function rootOf(router: Pick<QueryParts["router"], "current">): { readonly provider: string; readonly model: string } {
  const { provider, model } = router.current();
  return { provider: provider.name, model };
}
