import OpenAI from "openai";
import { type Rig, TOKEN } from "../_rig.ts";

/** OpenAI's own client for the server of a test. */
export function openAiClient(rig: Rig, apiKey = TOKEN): OpenAI {
  return new OpenAI({ baseURL: `${rig.url}v1`, apiKey, maxRetries: 0 });
}
