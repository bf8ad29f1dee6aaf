import type { MockCounts, MockReply, MockRequest } from "./wire_mock.ts";

export interface MockEvent {
  readonly event?: string;
  readonly data: object | string;
}

/** A `MockReply` has the content of a reply, and a `MockWire` the format. */
export interface MockWire {
  readonly base: string;
  isRequest(pathname: string): boolean;
  keyOf(headers: Readonly<Record<string, string>>): string | undefined;
  listing(models: readonly string[]): object;
  // deno-lint-ignore no-explicit-any
  textsOf(body: any): readonly string[];
  isStreamed(asked: MockRequest): boolean;
  events(reply: MockReply, asked: MockRequest): Iterable<MockEvent>;
  whole(reply: MockReply, asked: MockRequest): object;
  failure(status: number, error: Readonly<Record<string, unknown>>): object;
  errorEvent(error: Readonly<Record<string, unknown>>): MockEvent;
  isMark(event: MockEvent): boolean;
  readonly ping: MockEvent;
}

/** For a reply without counts of its own, the mock counts one token per 4 characters. */
export function countsOf(reply: MockReply, asked: MockRequest): MockCounts {
  if (reply.counts) return reply.counts;
  const input = asked.texts.reduce((sum, text) => sum + Math.ceil(text.length / 4), 0);
  return { input, output: Math.ceil(((reply.text ?? "").length + (reply.reasoning ?? "").length) / 4) };
}

export function* pieces(text: string, size = 24): Generator<string> {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
}
