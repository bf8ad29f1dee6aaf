import { Cancelled } from "../../domain/errors.ts";
import { NO_USAGE } from "../../domain/query/usage.ts";
import { type Capabilities, type ModelEvent, type ModelRequest, type Provider, UNKNOWN_MODEL } from "../provider.ts";
import { demoReply } from "./demo_reply.ts";

const PIECE = 80;

/** A provider without a model: fixed policies read the real context and write real blocks. It needs no network, counts
 * no tokens, and its name identifies it. */
export function demoProvider(): Provider {
  return {
    name: "demo",
    defaultModel: "policies",
    stream: play,
    models: ({ signal }) => signal.aborted ? Promise.reject(new Cancelled("Cancelled")) : Promise.resolve(["policies"]),
    capabilities: (): Capabilities => ({ ...UNKNOWN_MODEL, price: { input: 0, output: 0, cached: 0 } }),
  };
}

async function* play({ messages, model, signal }: ModelRequest): AsyncGenerator<ModelEvent> {
  const text = demoReply(messages.map((message) => message.text));
  for (let at = 0; at < text.length; at += PIECE) {
    if (signal.aborted) throw new Cancelled("Cancelled");
    yield { type: "text", delta: text.slice(at, at + PIECE) };
    // Lets the reading loop do other work between two pieces, as with a real stream.
    await Promise.resolve();
  }
  if (signal.aborted) throw new Cancelled("Cancelled");
  yield { type: "end", usage: { ...NO_USAGE, calls: 1 }, model, finish: "stop" };
}
