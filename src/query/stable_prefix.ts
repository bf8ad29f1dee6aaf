import type { ActiveExtensions } from "../extension/registry.ts";
import { assembleSystemPrompt } from "../prompt/system_prompt.ts";
import type { QueryParts } from "./query_parts.ts";

/** Longer requests are shown head and tail; all of it stands in `$query`. */
const SHOWN_REQUEST = { limit: 32_000, head: 16_000, tail: 4_000 };

/** The texts that are the same bytes over all calls of a query, so that a provider's prefix cache holds. */
export function stablePrefix(
  request: string,
  { parts, active, begun }: {
    readonly parts: Pick<QueryParts, "environment" | "settings">;
    readonly active: Pick<ActiveExtensions, "blocks">;
    readonly begun: number;
  },
): { readonly system: string; readonly request: string } {
  const { environment, settings } = parts;
  const system = assembleSystemPrompt({
    environment: { ...settings.machine, date: new Date(begun).toISOString().slice(0, 10) },
    instructions: settings.instructions,
    extensions: active.blocks.map((block) => ({ block })),
  });
  return { system, request: [requestText(request), ...environment.givenTexts()].join("\n\n") };
}

/** The request as message 2 shows it: whole, or head and tail of one that would fill every call. */
function requestText(request: string): string {
  const { limit, head, tail } = SHOWN_REQUEST;
  if (request.length <= limit) return request;
  const first = request.slice(0, head).replace(/[\ud800-\udbff]$/, "");
  const last = request.slice(-tail).replace(/^[\udc00-\udfff]/, "");
  const left = request.length - first.length - last.length;
  return `${first}\n\n[… ${left} of ${request.length} characters are not shown: the whole request is the string $query; read it in code …]\n\n${last}`;
}
