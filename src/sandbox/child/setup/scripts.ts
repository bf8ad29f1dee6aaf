import type { ConfinedWalls } from "../../confine/confinement.ts";
import type { Bytes } from "../../protocol.ts";
import { type ScriptSource, scriptValue } from "./script_value.ts";
import type { Setup } from "./setup.ts";

/** The scripts of a child. */
export interface ChildScripts {
  readonly blocks: ScriptSource;
  readonly compiler: ScriptSource;
  readonly sucrase: ScriptSource;
}

/** What the part beside foreign code is given. */
export interface ChildStart {
  readonly setup: Setup;
  /** Codec bytes of "alias.name" to constant. */
  readonly constants: Bytes;
  readonly scripts: ChildScripts;
  /** Ends the child, with a reason if it is a fault. */
  readonly end: (why: string | null) => void;
  /** What a script cannot provide itself; only for tests of attacks without the realm's wall. */
  readonly import: (specifier: string, options?: ImportCallOptions) => Promise<unknown>;
}

/** What a worker with grants is given: plain data. */
export type WorkerStart = Pick<ChildStart, "setup" | "constants" | "scripts">;

/** Begins to serve, behind the walls that are in place. */
export type Begin = (held: ConfinedWalls) => void;

/** Evaluates the script of the blocks. `url` is that of a module of Deno. */
export function loadBlocks(start: ChildStart, url: string): Begin {
  const found = scriptValue(start.scripts.blocks, { name: "sandbox.blocks", filename: url });
  if (!isMaker(found)) throw new TypeError("Cannot run blocks: the bundle is not one");
  return found(start);
}

function isMaker(value: unknown): value is (start: ChildStart) => Begin {
  return typeof value === "function";
}
