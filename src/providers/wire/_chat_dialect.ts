import type { ModelRequest, ReasoningLevel } from "../provider.ts";
import { EFFORT, type JsonFields } from "./wire.ts";

/** Differences between the requests of services that implement OpenAI's API. */
export interface ChatDialect {
  /** Fields of the request for a reasoning level. */
  reasoning(level: ReasoningLevel): JsonFields;
  headers(request: ModelRequest): Readonly<Record<string, string>>;
  readonly modelsPath: string;
  /** The service passes cache breakpoints on for this model. */
  hasBreakpoints(model: string): boolean;
}

const OPENAI: ChatDialect = {
  reasoning: (level) => ({ reasoning_effort: EFFORT[level] }),
  headers: () => ({}),
  modelsPath: "/models",
  hasBreakpoints: () => false,
};

/** Chosen by the service's address, since users may choose any name for it. */
const DIALECTS: readonly (readonly [RegExp, Partial<ChatDialect>])[] = [
  // https://openrouter.ai/docs/use-cases/reasoning-tokens and https://openrouter.ai/docs/features/prompt-caching
  [/^https:\/\/openrouter\.ai\//, {
    reasoning: (level) => ({ reasoning: { effort: EFFORT[level] } }),
    hasBreakpoints: (model) => model.startsWith("anthropic/"),
  }],
  // https://docs.z.ai/guides/capabilities/thinking-mode
  [/\/api(\/coding)?\/paas\/v\d/, {
    reasoning: (level) => ({ thinking: { type: level === "quick" ? "disabled" : "enabled" } }),
  }],
  // https://help.aliyun.com/en/model-studio/deep-thinking
  [/\/compatible-mode\/v\d/, { reasoning: (level) => ({ enable_thinking: level !== "quick" }) }],
  // Copilot reads images only if this header is set.
  [/^https:\/\/api\.([\w-]+\.)?githubcopilot\.com/, {
    headers: ({ messages }) =>
      messages.some(({ images }) => images?.length) ? { "copilot-vision-request": "true" } : {},
  }],
  // https://docs.github.com/en/rest/models/catalog: the list is next to the inference path, not below it.
  [/^https:\/\/models\.github\.ai\/inference/, { modelsPath: "/../catalog/models" }],
];

export function chatDialect(baseUrl: string): ChatDialect {
  const found = DIALECTS.find(([address]) => address.test(baseUrl.trim()));
  return { ...OPENAI, ...found?.[1] };
}
