import { z } from "zod";
import type { HttpParts } from "../routing/http_parts.ts";
import { Problem } from "../response/problem.ts";

/** The model name that always works, whichever model is behind it. */
const OWN_NAME = "vis";

/** A model in OpenAI's format. */
export const ServedModelSchema = z.object({
  id: z.string(),
  object: z.literal("model"),
  created: z.number(),
  owned_by: z.string(),
});

type ServedModel = z.infer<typeof ServedModelSchema>;

/** The agent under its own name and under the name of its model. */
export function servedModels({ model, provider }: Pick<HttpParts, "model" | "provider">): readonly ServedModel[] {
  return [OWN_NAME, model].map((id) => ({
    id,
    object: "model" as const,
    created: 0,
    owned_by: id === model ? provider : OWN_NAME,
  }));
}

/** The model of this name; the agent if no name is given. Throws `Problem` (404) if there is no such model. */
export function servedModel(parts: Pick<HttpParts, "model" | "provider">, name: string = OWN_NAME): ServedModel {
  const found = servedModels(parts).find(({ id }) => id === name);
  if (found) return found;
  throw new Problem(`Cannot find model: ${name.slice(0, 100)}; this server has ${OWN_NAME} and ${parts.model}`, {
    kind: "not-found",
    errors: [{ path: "model", message: "Unknown" }],
  });
}
