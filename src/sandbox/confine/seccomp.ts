import type { KernelAccess } from "./access.ts";
import { accessCalls, type GuardedCall } from "./access_calls.ts";
import { type Architecture, numberOf, numbersOf } from "./call_numbers.ts";
import {
  argument,
  BPF,
  denyWith,
  entryCheck,
  installFilter,
  type Operation,
  VERDICT,
  verdict,
} from "./install_filter.ts";
import type { Libc } from "./libc.ts";
import { ALLOWED } from "./system_calls.ts";

const EPERM = 1, ENOSYS = 38;

/** The allow-list as a chain of comparisons: each match returns immediately, everything else gets EPERM. */
export function allowedCalls(
  { pid, access, architecture = Deno.build.arch }: {
    readonly pid: number;
    readonly access: KernelAccess;
    readonly architecture?: Architecture;
  },
): Operation[] {
  const operations: Operation[] = [
    ...entryCheck(architecture),
    // Its flags are behind a pointer that a filter cannot read; libc falls back to clone.
    [BPF.equal, 0, 1, numberOf("clone3", architecture)],
    denyWith(ENOSYS),
  ];
  for (const number of numbersOf(ALLOWED, architecture)) {
    operations.push([BPF.equal, 0, 1, number], verdict(VERDICT.allow));
  }
  for (const call of accessCalls(pid, access)) {
    const then = guarded(call);
    for (const number of numbersOf([call.name], architecture)) {
      operations.push([BPF.equal, 0, then.length, number], ...then);
    }
  }
  operations.push(denyWith(EPERM));
  return operations;
}

/** Allows the call if all of its checks hold, or answers it with its own error. */
function guarded({ checks, answer }: GuardedCall): Operation[] {
  if (answer !== undefined) return [denyWith(answer)];
  const refuse = denyWith(EPERM);
  const tests = checks.flatMap(({ index, oneOf, none, some }): Operation[] => {
    const load: Operation = [BPF.load, 0, 0, argument(index)];
    if (none !== undefined) return [load, [BPF.anyBit, 0, 1, none], refuse];
    if (some !== undefined) return [load, [BPF.anyBit, 1, 0, some], refuse];
    if (oneOf === undefined) {
      const high: Operation = [BPF.load, 0, 0, argument(index) + 4];
      return [high, [BPF.equal, 1, 0, 0], refuse, load, [BPF.equal, 1, 0, 0], refuse];
    }
    return [load, ...oneOf.map((value, at): Operation => [BPF.equal, oneOf.length - at, 0, value]), refuse];
  });
  return [...tests, verdict(VERDICT.allow)];
}

/** Installs the system call filter on all threads of the process at once (TSYNC). Call it when everything
 * has been loaded, which needs calls that are refused afterwards. Needs no_new_privs. Returns what could not be set. */
export function seccomp(libc: Libc, access: KernelAccess): string[] {
  return installFilter(libc, allowedCalls({ pid: Deno.pid, access }));
}
