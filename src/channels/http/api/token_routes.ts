import { z } from "zod";
import type { HttpParts } from "../routing/http_parts.ts";
import { jsonResponse } from "../response/json_response.ts";
import { type HttpRoute, route } from "../routing/route.ts";
import type { Runs } from "../stream/runs.ts";
import * as schema from "./schemas.ts";

/** Routes for administrators of tokens. */
export function tokenRoutes({ parts, runs }: { readonly parts: HttpParts; readonly runs: Runs }): readonly HttpRoute[] {
  return [route({
    method: "get",
    path: "/api/v1/tokens",
    operation: "listTokens",
    summary: "List tokens by name, with their scopes and today's usage; the tokens themselves are never shown",
    tag: "server",
    scope: "admin",
    answers: { 200: { description: "All tokens", schema: z.object({ items: z.array(schema.TokenSchema) }) } },
    handle: async () => {
      const grants = await parts.tokens.grants();
      return jsonResponse({
        items: grants.map(({ name, scope, expiresAt, quota }) => {
          return { name, scope, expiresAt, quota, today: runs.used({ name }) };
        }),
      });
    },
  })];
}
