import assert from "node:assert/strict";
import type { OpenRequest, ProviderAdmin } from "../../../src/channels/channel.ts";
import { final } from "../../helpers/scripted_provider.ts";
import { withScreen } from "./_rig.ts";

const MODEL = {
  ...{ name: "model-1", contextTokens: null, price: null, reasoning: false, images: false, known: true, root: false },
};
const PROVIDER = {
  ...{ name: "acme", title: "Acme", protocol: "openai-chat", baseUrl: "", model: null, root: false, reach: null },
  key: { provider: "acme", title: "Acme", need: "required", from: "", shown: "", fix: "" } as const,
};
const ADMIN: Partial<ProviderAdmin> = {
  providers: () => Promise.resolve({ providers: [PROVIDER], problem: "No model is set for acme", notes: [] }),
  models: () => Promise.resolve([{ provider: "acme", source: "service", detail: "", models: [MODEL] }]),
  loginNames: () => [],
  loginChoices: () => Promise.resolve([]),
};

Deno.test("without a model the screen opens with the picker, and the request waits in the input", async () => {
  const opened: OpenRequest[] = [];
  const set: unknown[] = [];
  await withScreen([final("It is a library")], {
    session: { provider: "", model: "" },
    shows: "no model",
    place: { request: "What is this?" },
    parts: {
      providers: () => Promise.resolve(ADMIN as ProviderAdmin),
      config: () => Promise.resolve({ set: (...change: unknown[]) => Promise.resolve(void set.push(change)) } as never),
    },
    opens: (request) => void opened.push(request),
  }, async ({ screen }) => {
    await screen.until("model-1");
    screen.type("\x1b");
    await screen.until((now) => !now.includes("model-1") && now.includes("What is this?"));
    screen.type("\r");
    await screen.until("Choose a model first");
    await screen.until("model-1");
    screen.type("\x1b[B\r");
    await screen.until("acme/model-1 from now on");
    screen.type("\r");
    await screen.until("It is a library");
    assert.deepEqual(opened.map(({ provider, model }) => [provider, model]), [["acme", "model-1"]]);
    assert.deepEqual(set, [["model", { words: ["acme/model-1"], project: false }]]);
  });
});
