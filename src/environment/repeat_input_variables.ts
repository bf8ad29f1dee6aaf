import type { VariableImage } from "../domain/query/variable.ts";
import type { LargeTextStore } from "../persistence/store/large_text_store.ts";
import { decode } from "../sandbox/codec/codec.ts";
import type { InputVariable } from "./input_variable.ts";
import { describeInputVariables } from "./describe_input_variables.ts";

/** The input variables of a query, for another run of it. */
export async function repeatInputVariables(
  image: VariableImage,
  store: LargeTextStore,
): Promise<InputVariable> {
  const { name, large, summary } = image;
  const label = summary.doc.replace(/^from /, "");
  const described = (what: string, preview: string) => ({
    image,
    text: describeInputVariables(name, { what, label, preview }),
  });
  if (large !== undefined) return described(`string of ${summary.size} characters`, await beginning(store, large));
  const value: unknown = decode(image.bytes);
  if (typeof value === "string") return described(`string of ${value.length} characters`, value);
  return described(`${summary.shape}, from JSON`, JSON.stringify(value) ?? "");
}

async function beginning(store: LargeTextStore, large: string): Promise<string> {
  const decoder = new TextDecoder();
  for await (const piece of store.largePieces(large)) return decoder.decode(piece.subarray(0, 4096), { stream: true });
  return "";
}
