import type { FunctionSymbol } from "../spec.ts";
import type { NormalExtension } from "../validate_extension.ts";

/** As the function says; otherwise, what a read-only workspace may have only reads. */
export function onlyReads({ name, reads }: FunctionSymbol, { readOnly }: NormalExtension): boolean {
  return reads ?? (readOnly === true || readOnly?.symbols.includes(name) === true);
}
