import type { Access } from "./access.ts";
import { accessCalls, type GuardedCall } from "./access_calls.ts";
import type { Libc } from "./libc.ts";
import { ALLOWED, allowedByArgument, CLONE3, SECCOMP } from "./system_calls.ts";

// Classic BPF: load a word, compare it, return a verdict.
const LOAD = 0x20, EQUAL = 0x15, AT_LEAST = 0x35, ANY_BIT = 0x45, RETURN = 0x06;
const ALLOW = 0x7fff0000, KILL_PROCESS = 0x80000000;
const EPERM = 1, ENOSYS = 38;
const errno = (number: number): number => 0x00050000 | number;
// Offsets in struct seccomp_data.
const NUMBER = 0, ARCHITECTURE = 4;
const argument = (index: number): number => 16 + 8 * index;
const AUDIT_ARCH_X86_64 = 0xc000003e;
const X32_BIT = 0x40000000;
const SET_MODE_FILTER = 1n, TSYNC = 1n;

type Operation = readonly [code: number, whenTrue: number, whenFalse: number, operand: number];
const verdict = (value: number): Operation => [RETURN, 0, 0, value];

/** The allow-list as a chain of comparisons: each hit returns at once, what is not named gets EPERM. */
function program(pid: number, access: Access): Operation[] {
  const operations: Operation[] = [
    [LOAD, 0, 0, ARCHITECTURE],
    [EQUAL, 1, 0, AUDIT_ARCH_X86_64],
    verdict(KILL_PROCESS), // 32-bit entry: other numbers for the same calls
    [LOAD, 0, 0, NUMBER],
    [AT_LEAST, 0, 1, X32_BIT],
    verdict(errno(ENOSYS)), // the x32 numbers, likewise
    // Its flags are behind a pointer that a filter cannot read; libc falls back to clone.
    [EQUAL, 0, 1, CLONE3],
    verdict(errno(ENOSYS)),
  ];
  for (const number of Object.values(ALLOWED)) operations.push([EQUAL, 0, 1, number], verdict(ALLOW));
  for (const { number, index, values, bits, pointer } of allowedByArgument(pid)) {
    const tests = values.flatMap((value): Operation[] => [
      [bits ? ANY_BIT : EQUAL, 0, 1, value],
      verdict(ALLOW),
    ]);
    const high: Operation[] = pointer
      ? [[LOAD, 0, 0, argument(index) + 4], [EQUAL, 1, 0, 0], verdict(errno(EPERM))]
      : [];
    const then: Operation[] = [...high, [LOAD, 0, 0, argument(index)], ...tests, verdict(errno(EPERM))];
    operations.push([EQUAL, 0, then.length, number], ...then);
  }
  for (const call of accessCalls(access)) {
    const then = guarded(call);
    operations.push([EQUAL, 0, then.length, call.number], ...then);
  }
  operations.push(verdict(errno(EPERM)));
  return operations;
}

/** Allows the call where all of its checks hold; or answers it with an error of its own. */
function guarded({ checks, answer }: GuardedCall): Operation[] {
  if (answer !== undefined) return [verdict(errno(answer))];
  const refuse = verdict(errno(EPERM));
  const tests = checks.flatMap(({ index, oneOf, none }): Operation[] => {
    const load: Operation = [LOAD, 0, 0, argument(index)];
    if (none !== undefined) return [load, [ANY_BIT, 0, 1, none], refuse];
    if (oneOf === undefined) {
      const high: Operation = [LOAD, 0, 0, argument(index) + 4];
      return [high, [EQUAL, 1, 0, 0], refuse, load, [EQUAL, 1, 0, 0], refuse];
    }
    return [load, ...oneOf.map((value, at): Operation => [EQUAL, oneOf.length - at, 0, value]), refuse];
  });
  return [...tests, verdict(ALLOW)];
}

/**
 * Installs the system call filter on every thread of the process at once (TSYNC). Call it when the worker is up:
 * its bootstrap needs calls that are refused afterwards. Needs no_new_privs. Returns what could not be set.
 */
export function seccomp(libc: Libc, access: Access): string[] {
  if (Deno.build.arch !== "x86_64") return [`system call filter: not tried on ${Deno.build.arch}`];
  const operations = program(Deno.pid, access);
  const code = new Uint8Array(operations.length * 8);
  const view = new DataView(code.buffer);
  operations.forEach(([operation, whenTrue, whenFalse, operand], i) => {
    view.setUint16(i * 8, operation, true);
    view.setUint8(i * 8 + 2, whenTrue);
    view.setUint8(i * 8 + 3, whenFalse);
    view.setUint32(i * 8 + 4, operand >>> 0, true);
  });
  const head = new Uint8Array(16);
  const headView = new DataView(head.buffer);
  headView.setUint16(0, operations.length, true);
  headView.setBigUint64(8, libc.address(code), true);
  const result = libc.syscall(SECCOMP, [SET_MODE_FILTER, TSYNC, libc.address(head)]);
  if (result === 0) return [];
  return [
    result > 0 ? `system call filter: thread ${result} not in step` : `system call filter: errno ${libc.errno()}`,
  ];
}
