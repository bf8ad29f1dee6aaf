import { type CallName, Libc, SYSTEM_CALLS } from "../../src/sandbox/confine/libc.ts";

export const MORE_CALLS = {
  stat: [4, null],
  bind: [49, 200],
  listen: [50, 201],
  rename: [82, null],
  mkdir: [83, null],
  unlink: [87, null],
  symlink: [88, null],
  inotify_init1: [294, 26],
  memfd_create: [319, 279],
  pidfd_open: [434, 434],
} as const;

type TestedCall = CallName | keyof typeof MORE_CALLS;

const NUMBERS: ReadonlyMap<string, number> = new Map(
  Object.entries({ ...SYSTEM_CALLS, ...MORE_CALLS }).flatMap(([name, [x86, arm]]) => {
    const number = Deno.build.arch === "aarch64" ? arm : x86;
    return number === null ? [] : [[name, number] as const];
  }),
);

export function call(name: TestedCall): number {
  const number = NUMBERS.get(name);
  if (number === undefined) throw new Error(`Cannot attack by ${name}: ${Deno.build.arch} has no such call`);
  return number;
}

/** Grants need version 4, and 0 means no Landlock. */
export const LANDLOCK_ABI: number = landlockAbi();

function landlockAbi(): number {
  if (Deno.build.os !== "linux") return 0;
  const libc = new Libc();
  const abi = libc.call("landlock_create_ruleset", [0n, 0n, 1n]);
  libc.close();
  return Math.max(abi, 0);
}

export const CALLS_AS_CODE: string = JSON.stringify(Object.fromEntries(NUMBERS));
