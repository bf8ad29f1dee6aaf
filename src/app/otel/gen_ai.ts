import type { Usage } from "../../domain/query/query_schemas.ts";
import type { Attribute } from "./span.ts";

/** Names of OpenTelemetry's conventions for generative AI (semantic-conventions v1.45). */

const PROVIDERS: Readonly<Record<string, string>> = {
  gemini: "gcp.gemini",
  google: "gcp.gemini",
  vertex: "gcp.vertex_ai",
  bedrock: "aws.bedrock",
  azure: "azure.ai.openai",
  mistral: "mistral_ai",
  "openai-responses": "openai",
  xai: "x_ai",
};

/** The provider's name in the conventions; its own name if they have none. */
export function providerName(name: string): string {
  return PROVIDERS[name] ?? name;
}

/** Usage of a call or a query. */
export function usageAttributes(
  { input, output, cached, cacheWrite = 0, reasoning }: Usage,
): Record<string, Attribute> {
  return {
    "gen_ai.usage.input_tokens": input,
    "gen_ai.usage.output_tokens": output,
    ...(cached > 0 ? { "gen_ai.usage.cache_read.input_tokens": cached } : {}),
    ...(cacheWrite > 0 ? { "gen_ai.usage.cache_creation.input_tokens": cacheWrite } : {}),
    ...(reasoning > 0 ? { "gen_ai.usage.reasoning.output_tokens": reasoning } : {}),
  };
}
