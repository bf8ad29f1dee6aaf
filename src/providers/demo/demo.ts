import { playedProvider } from "../played_provider.ts";
import type { Provider } from "../provider.ts";
import { demoReply } from "./demo_reply.ts";

/** Fixed policies read the real context and write real blocks. */
export function demoProvider(): Provider {
  const reply = (texts: readonly string[]) => ({ text: demoReply(texts), reasoning: "" });
  return playedProvider({ name: "demo", model: "scripted", images: false, reply });
}
