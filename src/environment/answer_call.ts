import { HostCallError } from "../domain/errors.ts";
import { type CallAction, calledAction, type CallOutcome, type HostCallEvent } from "../domain/query/calls.ts";
import { type ActiveExtensions, offReason } from "../extension/active.ts";
import type { EnvironmentView } from "../extension/spec.ts";
import type { HostCall } from "../sandbox/sandbox.ts";
import { BUILTIN_NAMES, type BuiltinSource, callBuiltin } from "./builtins.ts";
import type { QueryScope } from "./environment_parts.ts";

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

const MAX_DIFFS = 20;
const MAX_CHARS = 16 * 1024;

/** The diffs that an event reports from a function's result: its key `diff`, or that of each element, without those that
 * only say that a file was removed or moved. Bounded, since events carry them. */
export function diffsIn(result: unknown): { readonly diffs?: readonly string[] } {
  const found: string[] = [];
  let left = MAX_CHARS;
  const shown = allDiffs(result).filter((diff) => !/^--- a\/.*\n\+\+\+ .*\n$/.test(diff));
  for (const diff of shown.slice(0, MAX_DIFFS)) {
    if (left <= 0) break;
    found.push(diff.length > left ? `${diff.slice(0, diff.lastIndexOf("\n", left) + 1 || left)}…\n` : diff);
    left -= diff.length;
  }
  return found.length > 0 ? { diffs: found } : {};
}

/** All of them. */
function allDiffs(result: unknown): readonly string[] {
  return (Array.isArray(result) ? result : [result]).flatMap((one: unknown) => {
    const diff: unknown = typeof one === "object" && one !== null ? Reflect.get(one, "diff") : undefined;
    return typeof diff === "string" && diff !== "" ? [diff] : [];
  });
}
