import type { MockReply, MockRequest } from "../../helpers/wires/openai_mock.ts";
import { replyJson } from "../../helpers/scripted_provider.ts";

export interface Meeting {
  readonly asked: Promise<void>;
  /** Releases the reply, optionally with a fault, or with an action after it. */
  release(more?: { readonly reply?: MockReply; readonly afterwards?: () => void }): void;
}

interface Held extends Meeting {
  arrived(): void;
  readonly released: Promise<{ readonly reply?: MockReply; readonly afterwards?: () => void }>;
}

export function requestOf(token: string, parts: number): string {
  return `turn ${token} of ${parts}`;
}

/** Returns the token of a request; null for any other request. */
export function tokenOf(request: string): string | null {
  return /turn (\w+) of \d+/.exec(request)?.[1] ?? null;
}

export class TokenModel {
  readonly #held = new Map<string, Held>();
  #replies = 0;
  extra: (token: string, part: number) => string = () => "";
  /** Returns a fault in place of a reply; null for the usual reply. */
  fault: (token: string, part: number) => MockReply | null = () => null;

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
