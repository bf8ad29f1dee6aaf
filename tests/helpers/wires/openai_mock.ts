import { openAiChatWire } from "./openai_chat_wire.ts";
import { type MockOptions, startWireMock, type WireMock } from "./wire_mock.ts";

export type { MockFault, MockHandler, MockOptions, MockReply, MockRequest } from "./wire_mock.ts";

export type OpenAiMock = WireMock;

export function startOpenAiMock(options: MockOptions): Promise<OpenAiMock> {
  return startWireMock(openAiChatWire, options);
}
