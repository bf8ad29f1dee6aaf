import type { Architecture, Libc } from "./libc.ts";

export const BPF = { load: 0x20, equal: 0x15, atLeast: 0x35, anyBit: 0x45, return: 0x06 } as const;
export const VERDICT = { allow: 0x7fff0000, kill: 0x80000000 } as const;
export type Operation = readonly [code: number, whenTrue: number, whenFalse: number, operand: number];

export const SET_MODE_FILTER = 1n;
const TSYNC = 1n;
const NUMBER = 0, ARCHITECTURE = 4;
/** The values are AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64. */
const AUDIT_ARCHITECTURES: Readonly<Record<Architecture, number>> = { x86_64: 0xc000003e, aarch64: 0xc00000b7 };
const X32_BIT = 0x40000000;
const ENOSYS = 38;

export const verdict = (value: number): Operation => [BPF.return, 0, 0, value];
export const denyWith = (errno: number): Operation => verdict(0x00050000 | errno);
/** Returns the offset of the low 32 bits; the high 32 bits are 4 bytes later. */
export const argument = (index: number): number => 16 + 8 * index;

/** These operations must precede the other checks, because other kinds of entry have other call numbers. */
export const entryCheck = (architecture: Architecture): readonly Operation[] => [
  [BPF.load, 0, 0, ARCHITECTURE],
  [BPF.equal, 1, 0, AUDIT_ARCHITECTURES[architecture]],
  verdict(VERDICT.kill), // A 32-bit entry has other numbers for the same calls.
  [BPF.load, 0, 0, NUMBER],
  [BPF.atLeast, 0, 1, X32_BIT],
  denyWith(ENOSYS), // The x32 numbers of x86-64 differ.
];

export function filterBytes(operations: readonly Operation[]): Uint8Array<ArrayBuffer> {
  const code = new Uint8Array(operations.length * 8);
  const view = new DataView(code.buffer);
  operations.forEach(([operation, whenTrue, whenFalse, operand], i) => {
    view.setUint16(i * 8, operation, true);
    view.setUint8(i * 8 + 2, whenTrue);
    view.setUint8(i * 8 + 3, whenFalse);
    view.setUint32(i * 8 + 4, operand >>> 0, true);
  });
  return code;
}

/** The filter covers all threads of this process. Without privileges, the process needs no_new_privs. */
export function installFilter(libc: Libc, operations: readonly Operation[]): string[] {
  const code = filterBytes(operations);
  const head = new Uint8Array(16);
  const headView = new DataView(head.buffer);
  headView.setUint16(0, operations.length, true);
  headView.setBigUint64(8, libc.address(code), true);
  const result = libc.call("seccomp", [SET_MODE_FILTER, TSYNC, libc.address(head)]);
  if (result === 0) return [];
  return [
    result > 0
      ? `system call filter: thread ${result} does not have it`
      : `system call filter: the kernel refused it (${libc.reason()})`,
  ];
}
