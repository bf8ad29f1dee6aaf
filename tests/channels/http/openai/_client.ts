import OpenAI from "openai";
import { type Rig, TOKEN } from "../_rig.ts";

export function openAiClient(rig: Rig, apiKey = TOKEN): OpenAI {
  return new OpenAI({ baseURL: `${rig.url}v1`, apiKey, maxRetries: 0 });
}
