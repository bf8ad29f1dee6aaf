import { captured } from "../intrinsics/captured.ts";
import { look } from "../intrinsics/look.ts";
import type { Declaration } from "../rewrite/declarations.ts";
import type { RealmVariables } from "../variables/variables.ts";
import type { KeptNumbers } from "./kept_numbers.ts";

/** What the rewritten code of a block is called with, in the order of the parameters that
 * rewrite/top_level_declarations.ts writes. */
export function blockArguments(
  declarations: readonly Declaration[],
  { variables, numbers }: { readonly variables: RealmVariables; readonly numbers: KeptNumbers },
): readonly unknown[] {
  const extending = variables.extending(declarations);
  const made = (value: object, name: string): void => variables.functions.made(value, { name, declarations });
  const fail = (name: string, isConstant: boolean | null): unknown => {
    if (isConstant === null && !variables.isNew(name)) return variables.lookup(name);
    return failName(name, isConstant === true);
  };
  return [extending, numbers, made, fail];
}

/** Where the language would fail. */
function failName(name: string, isConstant: boolean): never {
  if (isConstant) throw new captured.TypeError("Assignment to constant variable.");
  throw new look.ReferenceError(`Cannot access '${name}' before initialization`);
}
