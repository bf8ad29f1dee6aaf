import assert from "node:assert/strict";
import type { ProviderAdmin } from "../../../../src/channels/channel.ts";
import { ModelPicker } from "../../../../src/channels/tui/panels/model_picker.ts";
import { LoginPanel, ServerPanel } from "../../../../src/channels/tui/panels/login_panel.ts";
import type { ModelReport, ModelsReport, ProviderReport } from "../../../../src/domain/admin_reports.ts";
import { HOSTILE, KEYS, selected, shown, startPanels, type, WIDTHS } from "./_rig.ts";

const model = (name: string, rest: Partial<ModelReport> = {}): ModelReport => ({
  ...{ name, contextTokens: 128_000, price: { input: 3, output: 15, cached: 0 }, reasoning: true, images: false },
  ...{ known: true, root: false, ...rest },
});

const provider = (name: string, fix = ""): ProviderReport => ({
  ...{ name, title: name, protocol: "openai", baseUrl: "", model: null, root: false, reach: null },
  key: { provider: name, title: name, need: "required", from: "", shown: "", fix },
});

const list = (name: string, models: readonly ModelReport[], rest: Partial<ModelsReport> = {}): ModelsReport => ({
  ...{ provider: name, source: "service", detail: "", models, ...rest },
});

interface Fake {
  readonly providers: readonly ProviderReport[];
  readonly models: Readonly<Record<string, () => Promise<ModelsReport>>>;
  readonly problem?: string;
  readonly logins?: readonly string[];
  readonly servers?: () => Promise<readonly string[]>;
}

function fake(
  { providers, models, problem = "", logins = [], servers = () => Promise.resolve([]) }: Fake,
): Partial<ProviderAdmin> {
  return {
    providers: () => Promise.resolve({ providers, problem, notes: [] }),
    models: async ({ provider }) => [await models[provider ?? ""]!()],
    loginNames: () => logins,
    loginChoices: async () => [
      ...(await servers()).map((name) => ({ name, title: name, need: "optional" as const })),
      { name: "stopped", title: "Stopped", need: "optional" as const, start: "run: serve" },
      ...logins.map((name) => ({ name, title: name, need: "required" as const })),
    ],
  };
}

const here = { provider: "one", model: "b" } as const;
const three = { one: () => Promise.resolve(list("one", [model("a"), model("b"), model("c", { price: null })])) };

Deno.test("ModelPicker shows every provider with its models, the present one marked and selected", async () => {
  const admin = fake({ providers: [provider("one")], models: three });
  for (const width of WIDTHS) {
    await using rig = await startPanels([], { session: here, admin });
    const panel = new ModelPicker(rig.parts);
    const text = await rig.until(panel, /● b/, { width });
    assert.match(text, /^one$/m);
    assert.match(text, /❯ ● b/);
    assert.match(text, /^ {4}a .*\$3 \/ \$15/m);
    assert.match(text, /^ {4}c .*price unknown/m);
  }
});

Deno.test("ModelPicker Enter selects the model that a few letters found", async () => {
  const models = {
    one: () => Promise.resolve(list("one", [model("gpt-large"), model("gpt-small")])),
    two: () => Promise.resolve(list("two", [model("sonnet-7"), model("opus-7")])),
  };
  const admin = fake({ providers: [provider("one"), provider("two")], models });
  await using rig = await startPanels([], { session: here, admin });
  const panel = new ModelPicker(rig.parts);
  await rig.until(panel, /opus/);
  type(panel, ..."two op");
  assert.match(selected(panel), /opus-7/);
  assert.doesNotMatch(shown(panel), /gpt/);
  type(panel, KEYS.enter);
  assert.deepEqual(await rig.does("useModel"), { provider: "two", name: "opus-7" });
  assert.equal(rig.all("close").length, 1);
});

Deno.test("ModelPicker selects a usable model as soon as one is listed, unless the user has moved", async () => {
  for (const moves of [false, true]) {
    const models = Promise.withResolvers<ModelsReport>();
    const admin = fake({
      providers: [{ ...provider("one"), model: "b" }],
      models: { one: () => models.promise },
      logins: ["two", "three"],
    });
    await using rig = await startPanels([], { session: { provider: "", model: "" }, admin });
    const panel = new ModelPicker(rig.parts);
    await rig.until(panel, /Stopped/);
    assert.match(selected(panel), /demo/);
    if (moves) type(panel, KEYS.down);
    models.resolve(list("one", [model("a", { known: false }), model("b"), model("c")]));
    await rig.until(panel, /\$3/);
    assert.match(selected(panel), moves ? /stopped|two/ : /❯ +b /);
  }
});

Deno.test("ModelPicker uses a model that is in no list by its name", async () => {
  await using rig = await startPanels([], {
    session: here,
    admin: fake({ providers: [provider("one")], models: three }),
  });
  const panel = new ModelPicker(rig.parts);
  await rig.until(panel, /● b/);
  type(panel, ..."brand-new");
  assert.match(selected(panel), /use “brand-new” of one/);
  assert.match(shown(panel), /No listed model matches “brand-new”/);
  type(panel, KEYS.enter);
  assert.deepEqual(await rig.does("useModel"), { provider: "one", name: "brand-new" });
});

Deno.test("ModelPicker explains a request that is typed before a model is chosen", async () => {
  const admin = fake({ providers: [], models: {}, logins: ["two"] });
  await using rig = await startPanels([], { session: { provider: "", model: "" }, admin });
  const panel = new ModelPicker(rig.parts);
  await rig.until(panel, /Stopped/);
  type(panel, ..."Fix the tests");
  assert.match(
    shown(panel),
    /No listed model matches “Fix the tests”\s+Enter keeps it as your request, .*\s+or the demo\n/,
  );
  type(panel, KEYS.enter);
  assert.deepEqual(await rig.does("keep"), "Fix the tests");
  assert.doesNotMatch(shown(panel), /Fix the tests/);
});

Deno.test("ModelPicker a provider without a key explains the login, and is not asked", async () => {
  const admin = fake({
    providers: [provider("one"), provider("two", "run vis auth login two, or set TWO_API_KEY")],
    models: { ...three, two: () => Promise.reject(new Error("must not be asked")) },
    logins: ["one", "two", "three", "telegram"],
  });
  await using rig = await startPanels([], { session: here, admin });
  const panel = new ModelPicker(rig.parts);
  const text = await rig.until(panel, /● b/);
  assert.match(text, /two {2}no key: run vis auth login two, or set TWO_API_KEY/);
  assert.match(
    await rig.until(panel, /Stopped/),
    /Log in {2}Enter asks for the key\n {4}stopped {2}Stopped.*\n {4}two .*\n {4}three /,
  );
  assert.match(shown(panel, { width: 40 }), /two\n {2}no key: run vis auth login two, or set\n {2}TWO_API_KEY/);
});

Deno.test("ModelPicker selects the entry with the typed name before other names, and names before remarks", async () => {
  const choice = (name: string, title: string) => ({ name, title, need: "required" as const });
  const one = () => Promise.resolve(list("one", [model("b"), model("o-t-h-e-r")]));
  const admin: Partial<ProviderAdmin> = {
    ...fake({ providers: [provider("one")], models: { one } }),
    loginChoices: () =>
      Promise.resolve([
        choice("ollama", "Ollama"),
        choice("groq-2", "Groq"),
        choice("groq", "Groq"),
        choice("vendor", "oto tools"),
        choice("oltog", "one more"),
      ]),
  };
  await using rig = await startPanels([], { session: here, admin });
  for (const [typed, first] of [["other", "other"], ["groq", "groq"], ["oltog", "oltog"], ["oto", "oltog"]]) {
    const panel = new ModelPicker(rig.parts);
    await rig.until(panel, /ollama/);
    type(panel, ...typed!);
    const names = shown(panel).match(/^(?:❯ {3}| {4})(\S+)/gm)!.map((line) => line.slice(4));
    assert.ok(typed === first ? names[0] === first : names.join() === "oltog,vendor", names.join());
    if (typed === first) assert.match(selected(panel), new RegExp(` ${first} `));
  }
});

Deno.test("ModelPicker servers on this machine are found meanwhile, offer their models, and are used", async () => {
  const servers = Promise.withResolvers<readonly string[]>();
  const admin = fake({
    providers: [provider("one")],
    models: { ...three, ollama: () => Promise.resolve(list("ollama", [model("qwen:8b")])) },
    logins: ["two", "telegram"],
    servers: () => servers.promise,
  });
  await using rig = await startPanels([], { session: here, admin });
  const panel = new ModelPicker(rig.parts);
  assert.doesNotMatch(await rig.until(panel, /● b/), /ollama/);
  servers.resolve(["one", "ollama"]);
  const text = await rig.until(panel, /qwen:8b/);
  assert.equal(text.match(/^one\b/gm)?.length, 1);
  assert.match(text, /Log in {2}.*\n {4}stopped {2}Stopped.*\n {4}two/);
  assert.match(text, /❯ ● b/);
  type(panel, ..."qwen");
  type(panel, KEYS.enter);
  assert.deepEqual(await rig.does("useModel"), { provider: "ollama", name: "qwen:8b" });
});

Deno.test("ModelPicker a provider that does not answer delays no other one, and ends at its deadline", async () => {
  const never = new Promise<ModelsReport>(() => {});
  const admin = fake({
    providers: [provider("slow"), provider("one"), provider("broken")],
    models: { ...three, slow: () => never, broken: () => Promise.reject(new Error("refused \x1b[2J")) },
  });
  await using rig = await startPanels([], { session: here, admin });
  const panel = new ModelPicker(rig.parts, { deadlineMs: 20 });
  await rig.until(panel, /● b/);
  const text = await rig.until(panel, /slow {2}it did not answer within 0.02 s/);
  assert.match(text, /broken {2}refused \\u001b\[2J/);
  assert.match(text, /❯ ● b/);
});

Deno.test("ModelPicker reports missing providers and unreadable settings", async () => {
  await using rig = await startPanels([], { session: here, admin: fake({ providers: [], models: {} }) });
  await rig.until(new ModelPicker(rig.parts), /no provider is configured: choose one to log in to, or the demo/);
  const admin: Partial<ProviderAdmin> = { providers: () => Promise.reject(new Error("Cannot read config.jsonc: bad")) };
  await using broken = await startPanels([], { session: here, admin });
  const panel = new ModelPicker(broken.parts);
  await broken.until(panel, /! Cannot read config.jsonc: bad/, { width: 40 });
  type(panel, KEYS.down, KEYS.enter, ..."x", KEYS.esc);
  assert.equal(broken.all("close").length, 1);
});

Deno.test("ModelPicker ignores answers that arrive after it was closed", async () => {
  const late = Promise.withResolvers<ModelsReport>();
  const admin = fake({ providers: [provider("one")], models: { one: () => late.promise } });
  await using rig = await startPanels([], { session: here, admin });
  const panel = new ModelPicker(rig.parts);
  await rig.until(panel, /one {2}…/);
  panel.left();
  const { redraws } = rig;
  late.resolve(list("one", [model("a")]));
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(rig.redraws, redraws);
  assert.match(shown(panel), /one {2}…/);
});

Deno.test("ModelPicker 2000 models and hostile names", async () => {
  const many = Array.from({ length: 2_000 }, (_, at) => model(`model-${at}`));
  const models = { one: () => Promise.resolve(list("one", [model(HOSTILE), ...many], { detail: HOSTILE })) };
  const admin = fake({ providers: [provider("one"), provider(HOSTILE, HOSTILE)], models, problem: HOSTILE });
  await using rig = await startPanels([], { session: { provider: "one", model: "model-1999" }, admin });
  const panel = new ModelPicker(rig.parts);
  await rig.until(panel, /● model-1999/);
  type(panel, KEYS.home);
  for (const width of WIDTHS) assert.match(shown(panel, { width }), /❯ {3}a\\u001b/);
  type(panel, ..."1234");
  assert.match(selected(panel), /model-1234/);
});

Deno.test("ModelPicker logs in to a provider: a refused key is reported, a valid one is saved and the models are shown", async () => {
  const saved: string[] = [];
  const admin: Partial<ProviderAdmin> = {
    ...fake({ providers: [], models: {}, logins: ["acme"] }),
    loginKind: () => Promise.resolve("key"),
    keyPage: () => "https://acme.test/keys",
    tryKey: (_, key) => Promise.resolve({ state: key === "good-key" ? "works" : "refused", found: "no such key" }),
    saveKey: (name, key) => Promise.resolve(void saved.push(`${name} ${key}`)).then(() => ""),
  };
  await using rig = await startPanels([], { session: { provider: "", model: "" }, admin });
  const picker = new ModelPicker(rig.parts);
  await rig.until(picker, /Stopped/);
  type(picker, ..."acme", KEYS.enter);
  const login = await rig.does("open");
  assert.ok(login instanceof LoginPanel);
  await rig.until(login, /Create a key at https:\/\/acme\.test\/keys/);
  type(login, ..."bad-key", KEYS.enter);
  assert.doesNotMatch(await rig.until(login, /^! Cannot save the key: acme rejected it \(no such key\)/m), /bad-key/);
  type(login, ...Array<string>(7).fill(KEYS.backspace), ..."good-key", KEYS.enter);
  assert.equal(await rig.does("tell"), "Logged in to acme");
  assert.ok(rig.all("open").at(-1) instanceof ModelPicker);
  assert.deepEqual(saved, ["acme good-key"]);
});

Deno.test("ModelPicker adds another server: Vis asks for its address, its key and its model, and uses it", async () => {
  const added: unknown[] = [];
  const admin: Partial<ProviderAdmin> = {
    ...fake({ providers: [], models: {}, logins: ["acme"] }),
    tryServer: ({ key }) => Promise.resolve({ models: ["m-1", "m-2"], problem: "", refused: key !== "right" }),
    addServer: (server) => Promise.resolve(`${added.push(server) && "127.0.0.1-8080"}`),
  };
  for (const [typed, name] of [["m-2", "m-2"], ["", "m-1"], ["m-22", "m-22"]] as const) {
    await using rig = await startPanels([], { session: { provider: "", model: "" }, admin });
    const picker = new ModelPicker(rig.parts);
    await rig.until(picker, /Stopped/);
    for (const words of ["hi there", "acme"]) {
      type(picker, ...words);
      assert.doesNotMatch(shown(picker), /OpenAI-compatible/);
      type(picker, ...words.replace(/./g, KEYS.backspace));
    }
    type(picker, ..."custom");
    assert.match(selected(picker), /other +another OpenAI-compatible server/);
    type(picker, ...Array<string>(6).fill(KEYS.backspace), ..."other", KEYS.enter);
    const panel = await rig.does("open");
    assert.ok(panel instanceof ServerPanel);
    type(panel, ..."127.0.0.1", KEYS.enter);
    assert.match(shown(panel), /^! Cannot use the address 127\.0\.0\.1: it is not an http or https URL/m);
    type(panel, KEYS.ctrl("u"), ..."http://127.0.0.1:8080/v1/", KEYS.enter);
    assert.match(shown(panel), /Paste the key of http:\/\/127\.0\.0\.1:8080\/v1, or press Enter/);
    type(panel, KEYS.enter);
    await rig.until(panel, /^! Cannot use http:.*: it needs a key; type the key$/m);
    type(panel, ..."right", KEYS.enter);
    assert.match(await rig.until(panel, /The server offers m-1, m-2/), /^Model: *$/m);
    type(panel, ...typed, KEYS.enter);
    if (name === "m-22") {
      assert.match(shown(panel), /lists no m-22; did you mean m-2\? Correct the name, or press Enter to\s+keep it/);
      type(panel, KEYS.enter);
    }
    assert.deepEqual(await rig.does("useModel"), { provider: "127.0.0.1-8080", name });
    assert.deepEqual(added.at(-1), { baseUrl: "http://127.0.0.1:8080/v1", key: "right", model: name });
  }
});

Deno.test("ModelPicker explains how to start a server that does not run", async () => {
  await using rig = await startPanels([], { session: here, admin: fake({ providers: [], models: {} }) });
  const panel = new ModelPicker(rig.parts);
  await rig.until(panel, /Stopped/);
  type(panel, ..."stopped", KEYS.enter);
  await rig.until(panel, /! Cannot use stopped: Vis did not find the server; run: serve/);
});
