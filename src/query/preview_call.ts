import { Repetition } from "../prompt/nudges.ts";
import { callMessages, type RequestExtras } from "../prompt/call_messages.ts";
import type { ModelMessage } from "../providers/provider.ts";
import { buildContext } from "./build_context.ts";
import { stablePrefix } from "./prepare.ts";
import { handoverOf } from "./handover.ts";
import type { QueryParts } from "./query_parts.ts";
import { QueryState } from "./query_state.ts";
import { staleNames } from "./stale_variables.ts";

/** The messages of the first call that a request would make now. Nothing is stored, called or run. `environment` must
 * be a separate one, since its index is changed. */
export async function previewCall(
  request: string,
  { parts, extras }: { readonly parts: Omit<QueryParts, "owner">; readonly extras: RequestExtras },
): Promise<readonly ModelMessage[]> {
  const { environment, registry, router, settings, log, now } = parts;
  for (const name of await staleNames(parts, "")) environment.index.setScope(name, "forgotten");
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
  const prefix = { ...stablePrefix(request, { parts, active, begun: now() }), extras };
  return callMessages(prefix, { context, alternatingRoles: router.current().capabilities.alternatingRoles });
}
