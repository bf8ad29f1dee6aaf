import assert from "node:assert/strict";
import { readCatalog } from "../../../src/providers/models/catalog.ts";
import { loadModelData, refreshedPath } from "../../../src/providers/models/model_data.ts";
import { withFolder } from "../../helpers/with_folder.ts";

const text = { input: ["text", "image"], output: ["text"] };
const cost = { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 };
const limit = { context: 1_000_000, output: 64_000 };
const SONNET = { id: "claude-sonnet-5", name: "Claude", reasoning: true, modalities: text, cost, limit };

const service = (...models: readonly ({ readonly id: string } & Readonly<Record<string, unknown>>)[]): object => ({
  id: "x",
  models: Object.fromEntries(models.map((model) => [model.id, model])),
});
const read = (services: object) => readCatalog(JSON.stringify(services), "catalogue, 2100-01-02");

Deno.test("readCatalog() takes prices, sizes, images and thinking of the services that Vis knows", () => {
  const long = { ...SONNET, id: "long", cost: { ...cost, context_over_200k: { input: 6, output: 22.5 } } };
  const found = read({
    anthropic: service(SONNET, long, { ...SONNET, id: "tool", modalities: { input: ["text"], output: ["image"] } }),
    openrouter: service({ id: "a/b:free", cost: { input: 0, output: 0 }, limit }, {
      ...{ id: "a/unknown", cost: { input: 0, output: 0 }, limit: { context: 8_000, output: 0 } },
    }),
    "github-copilot": service(SONNET),
    elsewhere: 5,
  });
  assert.deepEqual([...found.keys()], ["anthropic", "openrouter", "github-copilot"]);
  assert.deepEqual(found.get("anthropic"), {
    source: "catalogue, 2100-01-02",
    models: {
      "claude-sonnet-5": [1_000_000, 64_000, 3, 15, 0.3, 3.75, "ri"],
      long: [1_000_000, 64_000, 3, 15, 0.3, 3.75, "ri", 200_000, 6, 22.5, 6, null],
    },
  });
  assert.deepEqual(found.get("openrouter")?.models, {
    "a/b:free": [1_000_000, 64_000, 0, 0, 0, null, ""],
    "a/unknown": [8_000, null, null, null, null, null, ""],
  }, "a price of 0 is a price of models that are marked as free alone");
  assert.deepEqual(found.get("github-copilot")?.models["claude-sonnet-5"]?.slice(2, 6), Array(4).fill(null));
});

Deno.test("readCatalog() refuses all of a catalogue that has something unusable", () => {
  const table: readonly (readonly [unknown, RegExp])[] = [
    ["text", /not an object of services/],
    [[], /not an object of services/],
    [{}, /none of the services openai/],
    [{ anthropic: {} }, /anthropic has no models/],
    [{ anthropic: service(SONNET), openai: service({ id: "x" }) }, /limit of openai x is missing/],
    ...[
      { cost: { ...cost, input: -1 } },
      { cost: { ...cost, output: 1e9 } },
      { cost: { ...cost, output: "15" } },
      { limit: { context: 1.5, output: 1 } },
      { limit: { context: 1e12, output: 1 } },
      { id: "\u001b[2J" },
    ].map((wrong) =>
      [{ anthropic: service({ ...SONNET, ...wrong }) }, /^Error: (?:cost|limit|id)\S* of anthropic /] as const
    ),
  ];
  for (const [services, message] of table) assert.throws(() => read(services as object), message);
  assert.throws(() => readCatalog("[".repeat(100_000), "x"), Error);
});

Deno.test("loadModelData() prefers the newer of the refreshed and the built-in data, model by model", async () => {
  await withFolder(async (home) => {
    const write = async (content: unknown): Promise<void> => {
      await Deno.mkdir(`${home}/models`, { recursive: true });
      await Deno.writeTextFile(refreshedPath("anthropic", home), JSON.stringify(content));
    };
    const builtIn = await loadModelData("anthropic");
    const inputOf = async (name: string) => (await loadModelData("anthropic", home)).find(name)?.price?.input ?? null;
    const models = {
      "claude-sonnet-5": [500_000, 64_000, 99, 199, 9, null, "ri"],
      "claude-next": [1, 1, 7, 8, 7, null, ""],
    };
    await write({ source: "catalogue, 2100-01-02", models });
    const refreshed = await loadModelData("anthropic", home);
    assert.deepEqual([refreshed.date, refreshed.source], ["2100-01-02", "catalogue, 2100-01-02"]);
    assert.deepEqual([await inputOf("claude-sonnet-5"), await inputOf("claude-next")], [99, 7]);
    assert.equal(refreshed.find("claude-sonnet-5-20270101")?.contextTokens, 500_000);
    assert.equal(refreshed.models.length, builtIn.models.length + 1);
    await write({ source: "catalogue, 2000-01-02", models });
    assert.deepEqual([await inputOf("claude-sonnet-5"), await inputOf("claude-next")], [2, 7]);
    for (
      const broken of ["{", { source: "catalogue, 2100-01-02", models: { "claude-sonnet-5": [1] } }, { models }, null]
    ) {
      await write(broken);
      assert.equal(await inputOf("claude-sonnet-5"), 2);
    }
  });
});

Deno.test("loadModelData() keeps the Responses API of a refreshed model", async () => {
  await withFolder(async (home) => {
    await Deno.mkdir(`${home}/models`);
    const models = { "gpt-6-luna": [400_000, 64_000, null, null, null, null, "ri"] };
    await Deno.writeTextFile(
      refreshedPath("github-copilot", home),
      JSON.stringify({ source: "catalogue, 2100-01-02", models }),
    );
    const found = (await loadModelData("github-copilot", home)).find("gpt-6-luna");
    assert.deepEqual([found?.contextTokens, found?.responses], [400_000, true]);
  });
});
