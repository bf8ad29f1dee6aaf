import { ConfigError } from "../domain/errors.ts";
import { Router } from "../providers/router.ts";
import type { Settings } from "./settings.ts";

const OPENAI = "https://api.openai.com/v1";

/** The router over the configured provider; throws `ConfigError` that says what to set. */
export async function buildRouter(settings: Settings): Promise<Router> {
  const { config, apiKey } = settings;
  const name = config.provider ?? (config.baseUrl || apiKey ? "openai" : null);
  if (name === "demo") {
    const { demoProvider } = await import("../providers/demo/demo.ts");
    const provider = demoProvider();
    return new Router({ routes: [{ provider, model: config.model ?? provider.defaultModel }] });
  }
  if (name === null) throw new ConfigError(NO_PROVIDER);
  if (name !== "openai") throw new ConfigError(`Cannot use provider: ${name} (there are openai and demo)`);
  if (config.model === null) throw new ConfigError("No model is set: set VIS_MODEL or give --model NAME");
  const { openAiCompatible } = await import("../providers/openai_compatible.ts");
  const baseUrl = config.baseUrl ?? OPENAI;
  const provider = openAiCompatible({ name, baseUrl, apiKey: apiKey ?? "", defaultModel: config.model });
  return new Router({ routes: [{ provider, model: config.model }] });
}

const NO_PROVIDER = `No provider is configured. Set these and try again:
  VIS_BASE_URL=http://127.0.0.1:8080/v1   any OpenAI-compatible server
  VIS_API_KEY=…                           its key, where it wants one
  VIS_MODEL=…                             the model to use
Or see it work without one: vis demo`;
