import type { Emitter } from "../domain/query/emitter.ts";
import type { QueryScope, SubcallFunctions } from "../environment/query_scope.ts";
import type { ActiveExtensions } from "../extension/registry/registry.ts";
import { offLine } from "../extension/registry/off_part.ts";
import type { IterationFrame } from "../iteration/iteration.ts";
import type { PreviousTurn } from "../persistence/store/query_store.ts";
import type { CallPrefix, RequestExtras } from "../prompt/call_messages.ts";
import type { ContextParts } from "../prompt/context/context_parts.ts";
import { assembleSystemPrompt } from "../prompt/system_prompt.ts";
import type { Ledger } from "./ledger.ts";
import type { QueryState } from "./query_state.ts";
import { isPlanning } from "./planning.ts";
import { handoverOf } from "./handover.ts";
import type { QueryParts } from "./query_parts.ts";
import type { QueryApprovals } from "./query_approvals.ts";
import { forgetStale } from "./stale_variables.ts";

/** Longer requests are shown as head and tail; the whole text is in `$query`. */
const SHOWN_REQUEST = { limit: 32_000, head: 16_000, tail: 4_000 };

/** What the loop of one query works on. */
export interface Prepared {
  readonly frame: IterationFrame;
  readonly active: ActiveExtensions;
  readonly state: QueryState;
  readonly handover: ContextParts["handover"];
  readonly parts: QueryParts;
  readonly request: string;
  readonly ledger: Ledger;
}

/** Activates extensions, starts the sandbox in the background, and builds the stable prefix and the handover. */
export async function prepare(
  request: string,
  { parts, state, queryId, emitter, begun, before, signal, extras, onChange, ...query }: {
    readonly parts: QueryParts;
    readonly approvals: QueryApprovals;
    readonly ledger: Ledger;
    readonly subcalls: SubcallFunctions;
    readonly state: QueryState;
    readonly queryId: string;
    readonly emitter: Emitter;
    readonly begun: number;
    readonly before: PreviousTurn | null;
    readonly signal: AbortSignal;
    readonly extras: RequestExtras;
    readonly onChange: (diff: string) => void;
  },
): Promise<Prepared> {
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
    onChange,
  };
  // Done before the child starts, so that it need not restore what is forgotten.
  await forgetStale(parts, queryId);
  const active = await environment.beginQuery(scope);
  environment.bindSystem("$query", request);
  if (extras.answerSchema?.variable) environment.bindSystem("$schema", extras.answerSchema.variable);
  const frame: IterationFrame = {
    environment,
    router,
    emitter,
    log,
    queryId,
    ...stablePrefix(request, { parts, active, begun }),
    extras,
    deadlines: settings.deadlines,
    signal,
    now,
  };
  return { frame, active, state, handover: handoverOf(before), parts, request, ledger: query.ledger };
}

/** The texts that are byte-identical in all calls of a query, so that a provider's prefix cache stays valid. */
export function stablePrefix(
  request: string,
  { parts, active, begun }: {
    readonly parts: Pick<QueryParts, "environment" | "settings">;
    readonly active: Pick<ActiveExtensions, "blocks" | "example" | "off">;
    readonly begun: number;
  },
): Pick<CallPrefix, "system" | "request" | "example"> {
  const { environment, settings } = parts;
  const system = assembleSystemPrompt({
    environment: {
      ...settings.machine,
      cwd: environment.branch.workspace,
      date: new Date(begun).toISOString().slice(0, 10),
    },
    instructions: settings.instructions,
    extensions: [...active.blocks, offLine(active.off ?? [])].map((block) => ({ block })),
  });
  const text = [requestText(request), ...environment.given.texts].join("\n\n");
  return { system, request: text, example: active.example };
}

/** The request as message 2 shows it: in full, or head and tail if it would fill every call. */
export function requestText(request: string): string {
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
