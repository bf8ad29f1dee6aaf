import assert from "node:assert/strict";
import type { ProviderAdmin, Session } from "../../../src/channels/channel.ts";
import { final } from "../../helpers/scripted_provider.ts";
import { fakeConfig } from "./_fake_config.ts";
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
  const used: unknown[] = [];
  const set: unknown[] = [];
  await withScreen([final("It is a library")], {
    session: {
      ...{ provider: "", model: "" },
      useModel: (model) => {
        used.push(model);
        return Promise.resolve(model);
      },
    },
    shows: "no model",
    place: { request: "What is this?" },
    parts: {
      providers: () => Promise.resolve(ADMIN as ProviderAdmin),
      config: () => Promise.resolve(fakeConfig((...change) => void set.push(change))),
    },
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
    assert.deepEqual(used, [{ provider: "acme", model: "model-1" }]);
    assert.deepEqual(set, [["model", ["acme/model-1"]]]);
  });
});

Deno.test("/model changes the model of a running request, from its next step on", async () => {
  const set: string[] = [];
  const session: Partial<Session> = { useModel: (model) => Promise.resolve(model) };
  const parts = {
    config: () => Promise.resolve(fakeConfig((key, words) => void set.push(`${key} ${words.join(" ")}`))),
  };
  await withScreen([{ text: final("never"), delayMs: 60_000 }], { session, parts }, async ({ screen }) => {
    screen.type("go\r");
    await screen.until("Esc cancels");
    screen.type("/model other/big-1\r");
    await screen.until("other/big-1 from the next step on");
    await screen.until("other big-1 · ");
    assert.deepEqual(set, ["model other/big-1"]);
  });
});
