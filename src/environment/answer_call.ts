import type { ActiveExtensions } from "../extension/registry/registry.ts";
import type { EnvironmentView } from "../extension/spec.ts";
import type { HostCall } from "../sandbox/sandbox.ts";
import { type CallAction, calledAction } from "../domain/calls/call_action.ts";
import type { CallOutcome, HostCallEvent } from "../domain/calls/host_call.ts";
import { HostCallError } from "../domain/errors.ts";
import { offReason } from "../extension/registry/off_part.ts";
import { BUILTIN_NAMES, type BuiltinSource, callBuiltin } from "./builtins.ts";
import { allDiffs, diffsIn } from "./diffs_in.ts";
import type { QueryScope } from "./query_scope.ts";

/** Answers one call from the sandbox and reports its start and end to the query. Rejects if the function does, and
 * outside a query. */
export async function answerCall(
  call: HostCall,
  { scope, stored, source, active, view }: {
    readonly scope: QueryScope | null;
    /** What the call must wait for. */
    readonly stored: Promise<unknown> | null;
    readonly source: BuiltinSource;
    readonly active: ActiveExtensions | null;
    readonly view: (signal: AbortSignal) => EnvironmentView;
  },
): Promise<unknown> {
  if (!scope) throw new Error(`Cannot call ${call.name}: no query is running`);
  const { block, name, args, signal } = call;
  const begun = performance.now();
  const builtin = BUILTIN_NAMES.includes(name);
  const does = active?.actions[name];
  const action = builtin ? {} : { action: calledAction(does ?? unnamed(name), args) };
  scope.onCall({ block, name, phase: "start", ...action });
  let ended: Pick<HostCallEvent, "ok" | "diffs"> = { ok: false };
  let said: CallOutcome = { text: "" };
  const told = (outcome: CallOutcome): void => void (said = outcome);
  try {
    if (scope.planning && !builtin) refuseChange(name, active);
    if (stored) await stored;
    const result = builtin
      ? await callBuiltin(call, { source, scope })
      : await called(active, name)?.call(name, args, { env: view(signal), signal, told });
    ended = { ok: said.ok ?? true, ...diffsIn(result) };
    for (const diff of allDiffs(result)) scope.onChange?.(diff);
    return result;
  } finally {
    const { ok = false } = ended;
    const { text, output = "" } = said;
    const facts = { ok, ...action, ...text === "" ? {} : { outcome: text }, ...output === "" ? {} : { output } };
    call.told?.(facts);
    scope.onCall({ block, name, phase: "end", ms: performance.now() - begun, ...facts, ...ended });
  }
}

/** Throws for a function that may change something. */
function refuseChange(name: string, active: ActiveExtensions | null): void {
  if (active === null || active.reads.includes(name) || !active.functions.includes(name)) return;
  const [namespace = "", symbol = ""] = name.split(".");
  throw new HostCallError(`Cannot call ${name}: this request only makes a plan`, {
    namespace,
    symbol,
    hint: "say in the plan what it would do",
  });
}

/** Of a function that does not say what it does. */
function unnamed(name: string): CallAction {
  return { doing: `calling ${name}`, done: `called ${name}`, things: "times", named: 0 };
}

function called(active: ActiveExtensions | null, name: string): ActiveExtensions | null {
  const reason = offReason(name, active?.off ?? []);
  if (reason === null) return active;
  const [namespace = "", symbol = ""] = name.split(".");
  throw new HostCallError(`Cannot call ${name}: ${reason}`, { namespace, symbol });
}
