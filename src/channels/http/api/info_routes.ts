import { z } from "zod";
import { readImage } from "../../../domain/images/read_image.ts";
import { findConversation } from "../request/find_conversation.ts";
import type { HttpParts } from "../routing/http_parts.ts";
import { jsonResponse } from "../response/json_response.ts";
import { type HttpRoute, route } from "../routing/route.ts";
import * as schema from "./schemas.ts";

type PromptRequest = z.infer<typeof schema.PromptBody>;
type PreviewTarget = Parameters<HttpParts["conversations"]["preview"]>[1];

/** Routes for the server's details, its models, and what a request would send. */
export function infoRoutes(parts: HttpParts): readonly HttpRoute[] {
  return [about(parts), models(parts), extensions(parts), ...prompts(parts)];
}

function about({ version, provider, model, workspace }: HttpParts): HttpRoute {
  return route({
    method: "get",
    path: "/api/v1",
    operation: "about",
    summary: "Get version, model and workspace of the server",
    tag: "server",
    answers: {
      200: {
        description: "The server",
        schema: z.object({ version: z.string(), provider: z.string(), model: z.string(), workspace: z.string() }),
      },
    },
    handle: () => jsonResponse({ version, provider, model, workspace }),
  });
}

function models({ admin }: HttpParts): HttpRoute {
  return route({
    method: "get",
    path: "/api/v1/models",
    operation: "listModels",
    summary: "List the providers in use and their models",
    tag: "server",
    answers: {
      200: {
        description: "Models by provider",
        schema: z.object({
          items: z.array(z.object({ provider: z.string(), source: z.string(), models: z.array(z.unknown()) }).loose()),
        }),
      },
    },
    handle: async () => {
      return jsonResponse({ items: await admin.models({ provider: null, signal: AbortSignal.timeout(20_000) }) });
    },
  });
}

function extensions({ extensions }: HttpParts): HttpRoute {
  return route({
    method: "get",
    path: "/api/v1/extensions",
    operation: "listExtensions",
    summary: "List the extensions of the workspace, and why any is not loaded",
    tag: "server",
    answers: {
      200: { description: "All extensions", schema: z.object({ items: z.array(schema.ListedExtensionSchema) }) },
    },
    // The paths of their folders are private to the operator.
    handle: async () => jsonResponse({ items: (await extensions.list()).map(({ path: _, ...facts }) => facts) }),
  });
}

function prompts({ conversations, workspace }: HttpParts): readonly HttpRoute[] {
  const shared = {
    summary: "Preview the messages that a request would send; sends and stores nothing",
    tag: "server",
    method: "post",
    scope: "read",
    body: schema.PromptBody,
    answers: { 200: { description: "The messages", schema: schema.MessagesSchema } },
  } as const;
  const preview = async ({ request, images = [], responseSchema }: PromptRequest, target: PreviewTarget) => {
    const messages = await conversations.preview(request, target, {
      images: images.map((image, at) => readImage(image, `${at + 1}`)),
      ...(responseSchema === undefined ? {} : { responseSchema }),
    });
    return jsonResponse({ messages: messages.map(({ role, text }) => ({ role, text })) });
  };
  return [
    route({
      ...shared,
      path: "/api/v1/prompt",
      operation: "previewPrompt",
      handle: ({ body }) => preview(body, { workspace }),
    }),
    route({
      ...shared,
      path: "/api/v1/conversations/{id}/prompt",
      operation: "previewPromptIn",
      handle: async ({ params, body }) =>
        preview(body, { branch: await findConversation(conversations, params["id"]) }),
    }),
  ];
}
