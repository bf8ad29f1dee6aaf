import assert from "node:assert/strict";
import { ProviderError } from "../../../src/domain/errors.ts";
import type { ModelEvent, Provider } from "../../../src/providers/provider.ts";
import { createProvider } from "../../../src/providers/wire/wire_provider.ts";
import type { ProviderOptions, WireProtocol } from "../../../src/providers/wire/wire.ts";
import { collect } from "../../conformance/provider_calls.ts";
import type { FailureWords } from "../../conformance/provider_failures.ts";
import { anthropicWire } from "./anthropic_wire.ts";
import { googleWire } from "./google_wire.ts";
import type { MockWire } from "./mock_wire.ts";
import { openAiChatWire } from "./openai_chat_wire.ts";
import { openAiResponsesWire } from "./openai_responses_wire.ts";
import { type MockOptions, type MockReply, startWireMock, type WireMock } from "./wire_mock.ts";

export const KEY = "sk-test-0123456789abcdef";

const CONTEXT_LENGTH: FailureWords["tooLong"] = {
  status: 400,
  error: { message: "This model's maximum context length is 8192 tokens.", code: "context_length_exceeded" },
};

export const WIRES: Readonly<Record<WireProtocol, { wire: MockWire; marksEnd: boolean; words: FailureWords }>> = {
  "openai-chat": {
    wire: openAiChatWire,
    marksEnd: true,
    words: { path: "/v1/chat/completions", api: "the chat completions API", overloaded: 503, tooLong: CONTEXT_LENGTH },
  },
  "openai-responses": {
    wire: openAiResponsesWire,
    marksEnd: true,
    words: { path: "/v1/responses", api: "the Responses API", overloaded: 503, tooLong: CONTEXT_LENGTH },
  },
  "anthropic": {
    wire: anthropicWire,
    marksEnd: true,
    words: {
      path: "/v1/messages",
      api: "the Messages API",
      overloaded: 529,
      tooLong: { status: 400, error: { message: "prompt is too long: 210000 tokens > 200000 maximum" } },
    },
  },
  "google": {
    wire: googleWire,
    marksEnd: false,
    words: {
      path: "/v1beta/models/mock-1:streamGenerateContent",
      api: "the Gemini API",
      overloaded: 503,
      tooLong: {
        status: 400,
        error: {
          message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        },
      },
    },
  },
};

export const PROTOCOLS: readonly WireProtocol[] = ["openai-chat", "openai-responses", "anthropic", "google"];

export function provide(protocol: WireProtocol, options: Partial<ProviderOptions>): Promise<Provider> {
  return createProvider(protocol, {
    name: "mocked",
    baseUrl: "http://127.0.0.1:9/v1",
    token: () => Promise.resolve(KEY),
    defaultModel: "mock-1",
    ...options,
  });
}

export async function withMock(
  protocol: WireProtocol,
  options: MockOptions,
  body: (mock: WireMock) => Promise<void>,
): Promise<void> {
  const mock = await startWireMock(WIRES[protocol].wire, options);
  try {
    await body(mock);
  } finally {
    await mock.close();
  }
}

export async function eventsTo(protocol: WireProtocol, reply: MockReply): Promise<readonly ModelEvent[]> {
  let events: readonly ModelEvent[] = [];
  await withMock(protocol, { reply }, async ({ baseUrl }) => {
    events = await collect(await provide(protocol, { baseUrl }));
  });
  return events;
}

export async function failureTo(protocol: WireProtocol, reply: MockReply): Promise<ProviderError> {
  const error = await eventsTo(protocol, reply).then(() => null, (error: unknown) => error);
  assert.ok(error instanceof ProviderError, `no ProviderError: ${error}`);
  return error;
}
