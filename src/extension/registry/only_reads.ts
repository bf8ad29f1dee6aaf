import type { FunctionSymbol } from "../spec.ts";
import type { NormalExtension } from "../validate_extension.ts";

/** What a read-only workspace may have only reads. */
export function onlyReads({ name, reads = false }: FunctionSymbol, { readOnly }: NormalExtension): boolean {
  return reads || readOnly === true || readOnly?.symbols.includes(name) === true;
}
