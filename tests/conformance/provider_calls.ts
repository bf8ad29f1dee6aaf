import assert from "node:assert/strict";
import type { ModelEvent, ModelRequest, Provider } from "../../src/providers/provider.ts";

export function request(fields: Partial<ModelRequest> = {}): ModelRequest {
  return {
    messages: [
      { role: "system", text: "You are terse." },
      { role: "user", text: "Hello", cache: true },
      { role: "user", text: "Context 1" },
    ],
    model: "mock-1",
    reasoning: "balanced",
    signal: new AbortController().signal,
    ...fields,
  };
}

export async function collect(
  provider: Provider,
  { onEvent, ...fields }: Partial<Pick<ModelRequest, "signal" | "onUsage">> & {
    readonly onEvent?: (event: ModelEvent) => void;
  } = {},
): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of provider.stream(request(fields))) {
    events.push(event);
    onEvent?.(event);
  }
  return events;
}

export function textOf(events: readonly ModelEvent[], type: "text" | "reasoning"): string {
  return events.map((event) => event.type === type ? event.delta : "").join("");
}

export function endOf(events: readonly ModelEvent[]): Extract<ModelEvent, { type: "end" }> {
  const end = events.at(-1);
  assert.ok(end?.type === "end");
  return end;
}
