import { Cancelled, ProviderError } from "../domain/errors.ts";
import { NO_USAGE, readSearchReply } from "../domain/query/model_call.ts";
import type { Playback, PlayedReply } from "../domain/records/recording.ts";
import { type Capabilities, type ModelEvent, type ModelRequest, type Provider, UNKNOWN_MODEL } from "./provider.ts";

const PIECE = 80;
const PRICE = { input: 0, output: 0, cached: 0 };

interface PlayedParts {
  readonly name: string;
  readonly model: string;
  readonly images: boolean;
  readonly search?: boolean;
  readonly reply: (texts: readonly string[]) => Omit<Extract<PlayedReply, { readonly kind: "reply" }>, "kind">;
}

export function playedProvider({ name, model, images, search = false, reply }: PlayedParts): Provider {
  return {
    name,
    defaultModel: model,
    stream: (request) => play(request, reply),
    models: ({ signal }) => signal.aborted ? Promise.reject(new Cancelled("Cancelled")) : Promise.resolve([model]),
    capabilities: (): Capabilities => ({ ...UNKNOWN_MODEL, images, ...(search ? { search } : {}), price: PRICE }),
  };
}

async function* play(
  { messages, model, search = false, signal }: ModelRequest,
  replyTo: PlayedParts["reply"],
): AsyncGenerator<ModelEvent> {
  if (signal.aborted) throw new Cancelled("Cancelled");
  const { text: whole, reasoning, broken, cut } = replyTo(messages.map((message) => message.text));
  const { text, sources } = search ? readSearchReply(whole) : { text: whole, sources: [] };
  for (const event of [...pieces("reasoning", reasoning), ...pieces("text", text)]) {
    if (signal.aborted) throw new Cancelled("Cancelled");
    yield event;
    // This wait lets the reader do other work between two pieces, as with a real stream.
    await Promise.resolve();
  }
  if (signal.aborted) throw new Cancelled("Cancelled");
  if (broken !== undefined) throw new ProviderError(broken, { code: "network", retryable: true });
  const usage = { ...NO_USAGE, calls: 1, ...(search ? { searches: 1 } : {}) };
  yield { type: "end", usage, model, finish: cut ? "length" : "stop", sources };
}

function* pieces(type: "text" | "reasoning", text: string): Generator<ModelEvent> {
  for (let at = 0; at < text.length; at += PIECE) yield { type, delta: text.slice(at, at + PIECE) };
}

const MESSAGES_OF_A_QUERY = 4;

/** A call gets the next recorded reply for the same text. The stream throws `ProviderError` if the recording has no
 * reply left, or recorded a failure. */
export function replayProvider(playback: Playback, { search = true } = {}): Provider {
  return playedProvider({
    name: "replay",
    model: "recording",
    images: true,
    search,
    reply: (texts) => {
      const asQuery = texts.length >= MESSAGES_OF_A_QUERY;
      const text = texts.at(asQuery ? 1 : -1) ?? "";
      const reply = asQuery ? playback.reply(text) : playback.call(text);
      if (reply?.kind === "reply") return reply;
      const ended = "Cannot replay this call: the recording has no reply for it";
      const fatal = reply === null || reply.fatal;
      throw new ProviderError(reply?.message ?? ended, { code: fatal ? "server" : "refused", retryable: false });
    },
  });
}
