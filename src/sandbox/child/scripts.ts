import type { ConfinedWalls } from "../confine/confinement.ts";
import type { Bytes } from "../protocol.ts";
import type { Setup } from "./setup.ts";
import process from "node:process";

export interface ChildScripts {
  readonly blocks: ScriptSource;
  readonly compiler: ScriptSource;
  readonly sucrase: ScriptSource;
}

export interface ChildStart {
  readonly setup: Setup;
  readonly constants: Bytes;
  readonly scripts: ChildScripts;
  readonly end: (why: string | null) => void;
  /** A script cannot import a module, so tests of attacks use this function. */
  readonly import: (specifier: string, options?: ImportCallOptions) => Promise<unknown>;
}

/** The worker receives these values in a message, so they are plain data. */
export type WorkerStart = Pick<ChildStart, "setup" | "constants" | "scripts">;

type Begin = (held: ConfinedWalls) => void;

export function loadBlocks(start: ChildStart, url: string): Begin {
  const found = scriptValue(start.scripts.blocks, { name: "sandbox.blocks", filename: url });
  if (!isMaker(found)) throw new TypeError("Cannot run blocks: the bundle does not return a function");
  return found(start);
}

function isMaker(value: unknown): value is (start: ChildStart) => Begin {
  return typeof value === "function";
}

export interface ScriptSource {
  readonly text: string;
  /** V8 ignores a cache that another V8 or other flags made. */
  readonly cache?: Uint8Array<ArrayBuffer> | null;
}

interface ScriptName {
  readonly name: string;
  /** A script that needs the globals of a Deno module gets a URL, because a compiled runtime shows Node's globals to
   * other scripts. */
  readonly filename?: string;
}

/** The bundle is a script, because scripts can have their own code cache and the child reads the text before Landlock
 * blocks files. */
export function scriptValue({ text, cache }: ScriptSource, { name, filename = name }: ScriptName): unknown {
  const vm = process.getBuiltinModule("node:vm");
  const script = new vm.Script(text, { filename, ...cache && { cachedData: cache } });
  const evaluate: unknown = script.runInThisContext();
  if (typeof evaluate !== "function") {
    throw new TypeError(`Cannot evaluate the bundle of ${name}: its script does not return a function`);
  }
  evaluate((module: string) => process.getBuiltinModule(module));
  const key = Symbol.for(name);
  const value: unknown = Reflect.get(globalThis, key);
  Reflect.deleteProperty(globalThis, key);
  return value;
}
