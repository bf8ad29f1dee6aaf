/** This module replaces `Script`, so it must load before the code that creates scripts. */
import process from "node:process";
import type { Script, ScriptOptions } from "node:vm";

const vm = process.getBuiltinModule("node:vm");
const Native = vm.Script;

export const recorded = new Map<string, Script>();

class Recorded extends Native {
  constructor(code: string, options?: ScriptOptions) {
    super(code, options);
    if (options?.filename) recorded.set(options.filename, this);
  }
}
Reflect.set(vm, "Script", Recorded);
