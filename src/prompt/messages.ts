import type { Image } from "../domain/images/image.ts";
import type { ModelMessage } from "../providers/provider.ts";

/** The messages of one call. The first three are byte-identical in all iterations of a query, so that prefix caches
 * stay valid; only `context` changes. With `alternatingRoles`, the same texts form one user message. */
export function assembleMessages(
  { system, request, images = [], schema, context, alternatingRoles }: {
    readonly system: string;
    readonly request: string;
    /** Sent with the request. */
    readonly images?: readonly Image[];
    readonly schema: string;
    readonly context: string;
    readonly alternatingRoles: boolean;
  },
): ModelMessage[] {
  const shown = images.length > 0 ? { images } : {};
  if (alternatingRoles) {
    return [{ role: "user", text: [system, request, schema, context].join("\n\n"), ...shown }];
  }
  return [
    { role: "system", text: system },
    { role: "user", text: request, ...shown },
    { role: "user", text: schema, cache: true },
    { role: "user", text: context },
  ];
}
