import { Cancelled, ProviderError } from "../domain/errors.ts";
import type { Playback, PlayedReply } from "../domain/records/playback.ts";
import { NO_USAGE } from "../domain/query/usage.ts";
import { type Capabilities, type ModelEvent, type ModelRequest, type Provider, UNKNOWN_MODEL } from "./provider.ts";

const PIECE = 80;
/** System, request, reply format, context: what a query sends and a plain call does not. */
const MESSAGES_OF_A_QUERY = 4;
const PRICE = { input: 0, output: 0, cached: 0 };

/** A provider without a model: it plays the replies of a recorded conversation, whatever the request. A call without a
 * recorded reply is refused. */
export function replayProvider(playback: Playback): Provider {
  return {
    name: "replay",
    defaultModel: "recording",
    stream: (request) => play(request, playback),
    models: ({ signal }) =>
      signal.aborted ? Promise.reject(new Cancelled("Cancelled")) : Promise.resolve(["recording"]),
    capabilities: (): Capabilities => ({ ...UNKNOWN_MODEL, images: true, price: PRICE }),
  };
}

async function* play({ messages, model, signal }: ModelRequest, playback: Playback): AsyncGenerator<ModelEvent> {
  if (signal.aborted) throw new Cancelled("Cancelled");
  const asQuery = messages.length >= MESSAGES_OF_A_QUERY;
  const text = messages.at(asQuery ? 1 : -1)?.text ?? "";
  const reply = textOf(asQuery ? playback.reply(text) : playback.call(text));
  yield* pieces("reasoning", reply.reasoning);
  for (const event of pieces("text", reply.text)) {
    if (signal.aborted) throw new Cancelled("Cancelled");
    yield event;
    // Lets the reading loop do other work between two pieces, as with a real stream.
    await Promise.resolve();
  }
  if (reply.broken !== undefined) throw new ProviderError(reply.broken, { code: "network", retryable: true });
  yield { type: "end", usage: { ...NO_USAGE, calls: 1 }, model, finish: reply.cut ? "length" : "stop" };
}

function textOf(reply: PlayedReply | null): Extract<PlayedReply, { readonly kind: "reply" }> {
  if (reply?.kind === "reply") return reply;
  const ended = "Cannot replay this call: the recording has no reply for it";
  const fatal = reply === null || reply.fatal;
  throw new ProviderError(reply?.message ?? ended, { code: fatal ? "server" : "refused", retryable: false });
}

function* pieces(type: "text" | "reasoning", text: string): Generator<ModelEvent> {
  for (let at = 0; at < text.length; at += PIECE) yield { type, delta: text.slice(at, at + PIECE) };
}
