import type { VariableImage } from "../../../domain/query/variable.ts";
import { restoredFault } from "../prepare/restored_fault.ts";

/** A variable as it is restored: lost, with the reason, if it is code that must not be evaluated. */
export function checkedImage(image: VariableImage): VariableImage {
  const reason = image.kind === "function" || image.kind === "class" ? restoredFault(image) : null;
  return reason === null ? image : { ...image, kind: "lost", reason: `${reason}, so it was not evaluated` };
}
