import type { MockReply, MockRequest } from "../../helpers/wires/openai_mock.ts";
import { replyJson } from "../../helpers/scripted_provider.ts";

/** A place in a turn at which a test does something. */
export interface Meeting {
  /** The model was asked for this part. */
  readonly asked: Promise<void>;
  /** Lets the reply go; with a fault, or with something to do once it has gone. */
  release(more?: { readonly reply?: MockReply; readonly afterwards?: () => void }): void;
}

interface Held extends Meeting {
  arrived(): void;
  readonly released: Promise<{ readonly reply?: MockReply; readonly afterwards?: () => void }>;
}

/** The request that appends `parts` entries for a token. */
export function requestOf(token: string, parts: number): string {
  return `turn ${token} of ${parts}`;
}

/** The token of a request, null for one that is none of these. */
export function tokenOf(request: string): string | null {
  return /turn (\w+) of \d+/.exec(request)?.[1] ?? null;
}

/** A model whose replies follow from the request alone, so that it matters to nobody which process asks, when, and how
 * often. A turn appends its parts to the variable `log`, one an iteration, and the last one answers. How far it is the
 * model sees in `last` of the index, as a real one would. The only thing that differs is the number of the reply at the
 * end of each entry, `t7.2-31`: two runs of one request are told apart by it. */
export class TokenModel {
  readonly #held = new Map<string, Held>();
  #replies = 0;
  /** What a part does besides: a line of code. */
  extra: (token: string, part: number) => string = () => "";
  /** In place of a reply; null for the usual one. */
  fault: (token: string, part: number) => MockReply | null = () => null;

  /** Holds the reply to the next request for a part (from 1) of a token. */
  meet(token: string, part: number): Meeting {
    const asked = Promise.withResolvers<void>();
    const released = Promise.withResolvers<{ readonly reply?: MockReply; readonly afterwards?: () => void }>();
    const meeting = {
      asked: asked.promise,
      arrived: asked.resolve,
      released: released.promise,
      release: (more = {}) => {
        this.#held.delete(`${token}.${part}`);
        released.resolve(more);
      },
    };
    this.#held.set(`${token}.${part}`, meeting);
    return meeting;
  }

  async answer({ texts }: MockRequest): Promise<MockReply> {
    const found = /turn (\w+) of (\d+)/.exec(texts[1] ?? "");
    if (!found) return { text: "A title" };
    const [, token = "", parts = "1"] = found;
    const last = /^var last = "(\w+)\.(\d+)-\d+"/m.exec(texts.at(-1) ?? "");
    const part = last?.[1] === token ? Number(last[2]) + 1 : 1;
    const held = this.#held.get(`${token}.${part}`);
    held?.arrived();
    const { reply, afterwards } = await held?.released ?? {};
    if (afterwards) queueMicrotask(afterwards);
    return reply ?? this.fault(token, part) ?? { text: this.reply(token, { part, parts: Number(parts) }) };
  }

  reply(token: string, { part, parts }: { readonly part: number; readonly parts: number }): string {
    const final = part < parts ? {} : { final: "{{last}} of {{size}}" };
    if (part > parts) return replyJson([], final);
    const entry = JSON.stringify(`${token}.${part}-${++this.#replies}`);
    const lines = [
      'var log = typeof log === "undefined" ? [] : log',
      this.extra(token, part),
      `log.push(${entry}); var last = ${entry}; var size = log.length`,
    ];
    return replyJson(lines.filter((line) => line !== "").join("\n"), {
      ...final,
      thinking: `part ${part} of ${token}`,
    });
  }
}
