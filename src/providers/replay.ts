import { ProviderError } from "../domain/errors.ts";
import type { Playback } from "../domain/records/recording.ts";
import { playedProvider } from "./played_provider.ts";
import type { Provider } from "./provider.ts";

/** System, request, reply format, context: what a query sends and a plain call does not. */
const MESSAGES_OF_A_QUERY = 4;

/** Plays the replies of a recorded conversation, whatever the request. A call without a recorded reply is refused. */
export function replayProvider(playback: Playback): Provider {
  return playedProvider({
    name: "replay",
    model: "recording",
    images: true,
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
