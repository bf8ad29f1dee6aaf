import { z } from "zod";
import type { HttpParts } from "../routing/http_parts.ts";
import { Problem } from "../response/problem.ts";

/** The model name that always serves, whatever model stands behind it. */
const OWN_NAME = "vis";

/** A model as OpenAI's clients read it. */
export const ServedModelSchema = z.object({
  id: z.string(),
  object: z.literal("model"),
  created: z.number(),
  owned_by: z.string(),
});

type ServedModel = z.infer<typeof ServedModelSchema>;

/** The agent under its own name, and under that of the model behind it. */
export function servedModels({ model, provider }: Pick<HttpParts, "model" | "provider">): readonly ServedModel[] {
  return [OWN_NAME, model].map((id) => ({
    id,
    object: "model" as const,
    created: 0,
    owned_by: id === model ? provider : OWN_NAME,
  }));
}

/** The one of this name; the agent where none is named. Throws `Problem` (404) where there is none. */
export function servedModel(parts: Pick<HttpParts, "model" | "provider">, name: string = OWN_NAME): ServedModel {
  const found = servedModels(parts).find(({ id }) => id === name);
  if (found) return found;
  throw new Problem(`Cannot find model: ${name.slice(0, 100)}; this server has ${OWN_NAME} and ${parts.model}`, {
    kind: "not-found",
    errors: [{ path: "model", message: "Unknown" }],
  });
}
