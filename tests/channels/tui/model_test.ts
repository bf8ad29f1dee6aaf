import assert from "node:assert/strict";
import type { ProviderAdmin, Session } from "../../../src/channels/channel.ts";
import { DEMO_REQUEST } from "../../../src/channels/tui/screen.ts";
import { demoReply } from "../../../src/providers/demo.ts";
import { final } from "../../helpers/scripted_provider.ts";
import { fakeConfig } from "./_fake_config.ts";
import { type RigOptions, withScreen } from "./_rig.ts";

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

interface Chosen {
  readonly used: unknown[];
  readonly set: unknown[];
  readonly options: RigOptions;
}

function withoutModel({ useModel }: { readonly useModel?: NonNullable<Session["useModel"]> } = {}): Chosen {
  const [used, set]: [unknown[], unknown[]] = [[], []];
  const options: RigOptions = {
    session: {
      ...{ provider: "", model: "" },
      useModel: (model) => {
        used.push(model);
        return useModel?.(model) ?? Promise.resolve(model);
      },
    },
    shows: "no model",
    parts: {
      providers: () => Promise.resolve(ADMIN as ProviderAdmin),
      config: () => Promise.resolve(fakeConfig((...change) => void set.push(change))),
    },
  };
  return { used, set, options };
}

Deno.test("without a model the screen opens with the picker, and the first request is sent after the choice", async () => {
  const { used, set, options } = withoutModel();
  const place = { request: "What is this?" };
  await withScreen([final("It is a library")], { ...options, place }, async ({ screen, engine }) => {
    await screen.until(/model-1[^]*What is this\?/);
    screen.type("\x1b");
    await screen.until((now) => !now.includes("model-1") && now.includes("What is this?"));
    screen.type("\r");
    await screen.until("Vis then sends your request");
    await screen.until("model-1");
    assert.equal(engine.provider.requests.length, 0);
    screen.type("\x1b[B\x1b[A\r");
    await screen.until(/› What is this\?[^]*It is a library/);
    assert.deepEqual(used, [{ provider: "acme", model: "model-1" }]);
    assert.deepEqual(set, [["model", ["acme/model-1"]]]);
  });
});

Deno.test("without a model, the list of models offers the demo, which is not saved as the model", async () => {
  const { used, set, options } = withoutModel();
  const providers = () =>
    Promise.resolve({
      ...ADMIN,
      providers: () => Promise.resolve({ providers: [], problem: "", notes: [] }),
      loginNames: () => ["acme"],
      loginChoices: () => Promise.resolve([{ name: "acme", title: "Acme", need: "required" }]),
    } as ProviderAdmin);
  const demo = { ...options, parts: { ...options.parts, providers } };
  await withScreen([final("Scripted: yes")], { ...demo, place: { request: "What is this?" } }, async ({ screen }) => {
    await screen.until(/Without a model[^]*❯ +demo +scripted replies, no key and no network[^]*Log in[^]*acme/);
    screen.type("\r");
    await screen.until(
      /› What is this\?[^]*Scripted: yes[^]*Try: How many files and lines are there\?[^]*demo scripted/,
    );
    assert.doesNotMatch(demoReply(["", DEMO_REQUEST, "", ""]), /answers small requests/);
    assert.match(demoReply(["", "Ask anything", "", ""]), /answers small requests/);
    assert.deepEqual(used, [{ provider: "demo", model: "scripted" }]);
    assert.deepEqual(set, []);
  });
});

Deno.test("the reason why no model is set disappears after a choice, and other notes stay", async () => {
  const { options } = withoutModel();
  const session = { ...options.session, notes: ["A note"], withoutModel: "Cannot choose a model: none is set" };
  await withScreen([], { ...options, session }, async ({ screen }) => {
    await screen.until("model-1");
    screen.type("\x1b");
    await screen.until(/A note[^]*Cannot choose a model/);
    screen.type("\x0bmodel\r");
    await screen.until("model-1");
    screen.type("\r");
    await screen.until((now) => /acme\/model-1 from now on/.test(now) && !now.includes("Cannot choose a model"));
    await screen.until("A note");
  });
});

Deno.test("without a model, a request of the command line runs no command of the user", async () => {
  const runCommand = (): never => {
    throw new TypeError("This was not to run");
  };
  const { options } = withoutModel();
  const parts = { ...options.parts, runCommand };
  await withScreen([final("It is a text")], { ...options, parts, place: { request: "!ls" } }, async ({ screen }) => {
    await screen.until("model-1");
    screen.type("\r");
    await screen.until(/› !ls[^]*It is a text/);
  });
});

Deno.test("a request that is typed into the list of models is sent after the choice", async () => {
  await withScreen([final("Four tests")], withoutModel().options, async ({ screen, engine }) => {
    await screen.until("model-1");
    screen.type("Fix the tests");
    await screen.until(/No listed model matches “Fix the tests”[^]*Enter keeps it as your request/);
    screen.type("\r");
    await screen.until(/filter: name of a model[^]*model-1[^]*Vis then sends your request[^]*Fix the tests/);
    screen.type("\r");
    await screen.until(/› Fix the tests[^]*Four tests/);
    assert.equal(engine.provider.requests.length, 1);
  });
});

Deno.test("the beginning of a request before the screen, and its end in the list of models, are one request", async () => {
  const { options } = withoutModel();
  await withScreen([final("Four tests")], { ...options, early: "Fix the te" }, async ({ screen }) => {
    await screen.until(/model-1[^]*Fix the te/);
    screen.type("sts of all");
    await screen.until(/No listed model matches/);
    screen.type("\r");
    await screen.until("Fix the tests of all");
    screen.type("\r");
    await screen.until(/› Fix the tests of all[^]*Four tests/);
  });
});

Deno.test("a request that was edited, or whose model failed, stays in the input", async () => {
  const { options, used } = withoutModel({ useModel: () => Promise.reject(new Error("no such model")) });
  await withScreen([], { ...options, place: { request: "Begin" } }, async ({ screen, engine }) => {
    await screen.until("model-1");
    screen.type("\r");
    await screen.until(/no such model[^]*Begin/);
    assert.equal(engine.provider.requests.length, 0);
    assert.equal(used.length, 1);
  });
  await withScreen([], { ...withoutModel().options, place: { request: "Begin" } }, async ({ screen, engine }) => {
    await screen.until("model-1");
    screen.type("\x1b");
    await screen.until((now) => !now.includes("model-1"));
    screen.type(" anew\x0b");
    await screen.until("╭─");
    screen.type("model\r");
    await screen.until("model-1");
    screen.type("\r");
    await screen.until(/acme\/model-1 from now on[^]*Begin anew/);
    assert.equal(engine.provider.requests.length, 0);
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

Deno.test("/model asks before it uses a name that the service does not list", async () => {
  const { used, set, options } = withoutModel();
  const session = { ...options.session, provider: "other", model: "m" };
  await withScreen([], { ...options, session, shows: "other m" }, async ({ screen }) => {
    screen.type("/model acme/modle-1\r");
    await screen.until(/No listed model matches “modle-1” +did you mean model-1\?[^]*use “modle-1” of acme/);
    assert.deepEqual([used, set], [[], []]);
    screen.type("\r");
    await screen.until("acme/modle-1 from now on");
    screen.type("/model acme/model-1\r");
    await screen.until("acme/model-1 from now on");
    assert.deepEqual(set, [["model", ["acme/modle-1"]], ["model", ["acme/model-1"]]]);
  });
});
