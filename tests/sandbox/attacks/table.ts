import type { SandboxTestOptions } from "../../../src/sandbox/host/open_sandbox.ts";
import { type Attack, type Wall, WALLS } from "./attack.ts";
import { ATTACKS } from "./list.ts";
import { AttackTargets } from "./targets.ts";
import { Attacker, type Attempt } from "./attacker.ts";

type Switches = NonNullable<SandboxTestOptions["walls"]>;
type Program = NonNullable<SandboxTestOptions["program"]>;

export type Way = "source" | "compiled";

export type Column = "none" | Wall | "kernel" | "all";
export const COLUMNS: readonly Column[] = ["none", ...WALLS, "kernel", "all"];

const NONE = { realm: false, permissions: false, limits: false, landlock: false, seccomp: false };
/** The walls that are set. The limits belong to the kernel's walls, as does no_new_privs, which seccomp needs. */
const STANDING: Readonly<Record<Column, Switches>> = {
  none: NONE,
  realm: { ...NONE, realm: true },
  permissions: { ...NONE, permissions: true },
  process: { ...NONE, limits: true },
  landlock: { ...NONE, limits: true, landlock: true },
  seccomp: { ...NONE, limits: true, seccomp: true },
  kernel: { ...NONE, limits: true, landlock: true, seccomp: true },
  all: {},
};

/** Returns whether the set walls must stop it in this way of running. */
export function claimed({ claims, pooled }: Attack, column: Column, way: Way): boolean {
  if (column === "all") return true;
  if (column === "none") return false;
  if (column === "landlock" && pooled && way === "source") return false;
  if (column === "kernel") return claims.includes("landlock") || claims.includes("seccomp");
  return claims.includes(column);
}

/** Returns whether the attack works without walls in this way of running. */
export function isControl({ control }: Attack, way: Way): boolean {
  return control === true || (control === "source" && way === "source");
}

/** Runs the attacks that `wanted` accepts, in order, against the walls of the column. */
export async function runColumn(
  column: Column,
  { program, wanted, onAttempt }: {
    readonly program?: Program;
    readonly wanted: (attack: Attack) => boolean;
    readonly onAttempt: (attack: Attack, attempt: Attempt) => void | Promise<void>;
  },
): Promise<void> {
  const targets = await AttackTargets.open();
  const attacker = new Attacker({ targets, walls: STANDING[column], ...(program ? { program } : {}) });
  try {
    for (const attack of ATTACKS.filter(wanted)) await onAttempt(attack, await attacker.run(attack));
  } finally {
    await attacker.close();
    await targets.close();
  }
}
