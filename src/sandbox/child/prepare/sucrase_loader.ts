import type { transform } from "sucrase";
import { type ScriptSource, scriptValue } from "../setup/script_value.ts";

export type SucraseTransform = typeof transform;

/** Evaluates the bundle of sucrase.ts on the first call; later calls return the same function. */
export function sucraseLoader(script: ScriptSource): () => SucraseTransform {
  let loaded: SucraseTransform | null = null;
  return () => loaded ??= evaluate(script);
}

function evaluate(script: ScriptSource): SucraseTransform {
  const found = scriptValue(script, { name: "sandbox.sucrase" });
  if (!isTransform(found)) throw new TypeError("Cannot strip types: the bundle of sucrase is not one");
  return found;
}

function isTransform(value: unknown): value is SucraseTransform {
  return typeof value === "function";
}
