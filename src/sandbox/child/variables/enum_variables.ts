import { bareList } from "../../codec/intrinsics.ts";
import { look } from "../intrinsics/look.ts";
import type { Declaration } from "../rewrite/declarations.ts";
import type { VariableRecord } from "./entry.ts";
import { addOnce } from "./save.ts";

/** Whether an enum or namespace extends what an earlier block declared, as it could in one file. Otherwise it redefines
 * the name, as every declaration does. */
export function extendsEarlier(
  { declaration, adds }: Declaration,
  { entry, value }: { readonly entry: VariableRecord; readonly value: unknown },
): boolean {
  if (!adds || value === null || (typeof value !== "object" && typeof value !== "function")) return false;
  const other = entry.declaration;
  const mayBe = other === "enum" || other === "namespace" ||
    (declaration === "namespace" && (other === "class" || other === "function"));
  return mayBe && entry.source !== "" && !look.isProxy(value) && hasNone(value, adds);
}

function hasNone(value: object, names: readonly string[]): boolean {
  for (let i = 0; i < names.length; i++) if (look.hasOwn(value, names[i]!)) return false;
  return true;
}

/** Records in the entry how an enum or namespace was created; `on`: what it extends. */
export function describeFilled(
  entry: VariableRecord,
  described: Declaration & { readonly on: VariableRecord | null },
): void {
  const { declaration, doc, source, statement, requires, on } = described;
  const all = bareList<string>();
  for (let i = 0; on && i < on.requires.length; i++) addOnce(all, on.requires[i]!);
  for (let i = 0; i < requires.length; i++) addOnce(all, requires[i]!);
  const end = source.length - "({})".length;
  if (on && source !== "") entry.source = `${look.slice(source, 0, end)}(${on.source})`;
  else entry.source = source;
  entry.declaration = on && on.declaration === "namespace" ? "namespace" : declaration;
  entry.doc = on && doc === "" ? on.doc : doc;
  entry.statement = statement;
  entry.requires = look.setPrototypeOf(all, look.array) as string[];
}
