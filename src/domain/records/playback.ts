import { PathMap } from "./path_map.ts";
import type { RecordedIteration, RecordedQuery, Recording } from "./recording.ts";

/** What a recorded model call returned: a reply, or an error. */
export type PlayedReply =
  | {
    readonly kind: "reply";
    readonly text: string;
    readonly reasoning: string;
    /** The model's length limit cut it. */
    readonly cut?: true;
    /** The error with which it broke off. */
    readonly broken?: string;
  }
  /** `fatal`: it ended the query. */
  | { readonly kind: "error"; readonly message: string; readonly fatal: boolean };

/** For a longer request, the model sees at least this much of its beginning. */
const HEAD_CHARS = 15_000;

interface Track {
  readonly text: string;
  readonly replies: PlayedReply[];
}

/** Plays a recording query by query: returns each recorded reply once, in order. */
export class Playback {
  readonly #recording: Recording;
  readonly #paths: PathMap;
  /** The track of the current query, then those of its child queries in recorded order. */
  #tracks: Track[] = [];
  readonly #calls = new Map<string, PlayedReply[]>();

  /** `paths` maps the recorded paths to those that the replies use in the replay. */
  constructor(recording: Recording, { paths = new PathMap() }: { readonly paths?: PathMap } = {}) {
    this.#recording = recording;
    this.#paths = paths;
  }

  /** Starts playing the replies of this query; 0-based. */
  begin(index: number): void {
    const query = this.#recording.queries[index];
    if (!query) throw new RangeError(`Cannot play query ${index + 1}: there are ${this.#recording.queries.length}`);
    this.#tracks = [];
    this.#calls.clear();
    this.#collect(query);
  }

  /** The next reply of the query that shows this text to the model; null if the recording has none. */
  reply(shown: string): PlayedReply | null {
    const recorded = this.#paths.toRecorded(shown);
    const track = this.#tracks.find(({ text, replies }) => replies.length > 0 && shows(recorded, text));
    return track?.replies.shift() ?? null;
  }

  /** The reply to a plain call; null if the recording has none. */
  call(prompt: string): PlayedReply | null {
    return this.#calls.get(this.#paths.toRecorded(prompt))?.shift() ?? null;
  }

  #collect(query: RecordedQuery): void {
    this.#tracks.push({ text: query.text, replies: this.#repliesOf(query) });
    for (const { calls, children } of query.iterations) {
      for (const { prompt, reply, error } of calls) {
        const played: PlayedReply = reply === null ? { kind: "error", message: error ?? "", fatal: false } : {
          kind: "reply",
          text: this.#paths.toPlayed(reply),
          reasoning: "",
          ...(error === null ? {} : { cut: true }),
        };
        this.#calls.set(prompt, [...this.#calls.get(prompt) ?? [], played]);
      }
      for (const child of children) this.#collect(child);
    }
  }

  #repliesOf({ iterations, reason }: RecordedQuery): PlayedReply[] {
    return iterations.map((iteration, at) =>
      this.#replyOf(iteration, reason === "provider" && at === iterations.length - 1)
    );
  }

  #replyOf({ response, nativeReasoning, error, ending }: RecordedIteration, fatal: boolean): PlayedReply {
    const message = error ?? "No reply came";
    if (response === "" && ending === undefined) return { kind: "error", message, fatal };
    return {
      kind: "reply",
      text: this.#paths.toPlayed(response),
      reasoning: nativeReasoning,
      ...(ending === "cut" ? { cut: true } : {}),
      ...(ending === "broken" ? { broken: message } : {}),
    };
  }
}

function shows(shown: string, text: string): boolean {
  if (text.length > HEAD_CHARS) return shown.startsWith(text.slice(0, HEAD_CHARS));
  return shown === text || shown.startsWith(`${text}\n\n`);
}
