import process from "node:process";
import type { transform } from "sucrase";

export type SucraseTransform = typeof transform;

/** Evaluates the bundle of sucrase.ts on the first call; later calls give the same function. */
export function sucraseLoader(text: string): () => SucraseTransform {
  let loaded: SucraseTransform | null = null;
  return () => loaded ??= evaluate(text);
}

function evaluate(text: string): SucraseTransform {
  const vm = process.getBuiltinModule("node:vm");
  new vm.Script(`(() => {${text}\n})()`, { filename: "sucrase" }).runInThisContext();
  const found: unknown = Reflect.get(globalThis, Symbol.for("sandbox.sucrase"));
  if (!isTransform(found)) throw new TypeError("Cannot strip types: the bundle of sucrase is not one");
  return found;
}

function isTransform(value: unknown): value is SucraseTransform {
  return typeof value === "function";
}
