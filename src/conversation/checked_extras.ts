import { checkImages } from "../domain/images/check_images.ts";
import { UsageError } from "../domain/errors.ts";
import type { Image } from "../domain/images/image.ts";
import type { RequestExtras } from "../prompt/call_messages.ts";
import type { Router } from "../providers/router/router.ts";

/** Validates what comes with a request besides its text. Throws `UsageError` for images that cannot be sent or that no
 * model accepts, and for an invalid schema. */
export async function checkedExtras(
  { images: given = [], responseSchema }: {
    readonly images?: readonly Image[] | undefined;
    readonly responseSchema?: unknown;
  },
  { routes }: Pick<Router, "routes">,
): Promise<RequestExtras> {
  const images = checkImages(given);
  if (images.length > 0 && !routes.some(({ provider, model }) => provider.capabilities(model).images)) {
    const names = routes.map(({ provider, model }) => `${model} of ${provider.name}`).join(", ");
    throw new UsageError(
      `Cannot send images: ${names} does not accept images; choose a model that does, or set "images": true for it in the configuration`,
    );
  }
  if (responseSchema === undefined) return { images, answerSchema: null };
  const { AnswerSchema } = await import("../prompt/schema/answer_schema.ts");
  return { images, answerSchema: new AnswerSchema(responseSchema) };
}
