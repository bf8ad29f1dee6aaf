import assert from "node:assert/strict";
import { modelsCommand } from "../../../../src/channels/cli/commands/auth.ts";
import type { ModelReport, ModelsReport } from "../../../../src/domain/admin_reports.ts";
import { fakeAdmin } from "../_fake_admin.ts";
import { fakeIo, fakeServices } from "../_fakes.ts";

const MODEL: ModelReport = {
  name: "m1",
  contextTokens: 200_000,
  price: { input: 2, output: 10, cached: 0.2 },
  reasoning: true,
  images: true,
  known: true,
  root: true,
};
const UNKNOWN: ModelReport = {
  name: "model-2",
  contextTokens: null,
  price: null,
  reasoning: false,
  images: false,
  known: false,
  root: false,
};

async function run(lists: readonly ModelsReport[], flags: { provider?: string; output?: "text" | "json" } = {}) {
  const io = fakeIo();
  const asked: (string | null)[] = [];
  const services = fakeServices({
    providerAdmin: () =>
      Promise.resolve(fakeAdmin({
        models: ({ provider }) => {
          asked.push(provider);
          return Promise.resolve(lists);
        },
      })),
  });
  const code = await modelsCommand({ services, io, flags: { output: "text", refresh: false, ...flags } });
  return { code, out: io.out, asked };
}

Deno.test("modelsCommand() shows context, price and abilities of a model, with their source", async () => {
  const { code, out, asked } = await run([
    { provider: "a", source: "service", detail: "", models: [MODEL, UNKNOWN] },
    { provider: "b", source: "data", detail: "package 1; the service: no", models: [MODEL] },
  ]);
  assert.equal(code, 0);
  assert.deepEqual(asked, [null]);
  const lines = out.split("\n");
  assert.equal(lines[0], "a (listed by the service)");
  assert.match(lines[1] ?? "", /^\* m1 {8}200k {2}\$2 in, \$10 out {10}reasons {2}images$/);
  assert.match(lines[2] ?? "", /^ {2}model-2 {6}\? {2}price unknown .*\(unknown model\)$/);
  assert.equal(lines[3], "b (from the data of Vis: package 1; the service: no)");
});

Deno.test("modelsCommand() asks for one provider, prints JSON, and exits with 1 for an empty list", async () => {
  const list = { provider: "a", source: "config", detail: "no answer", models: [] } as const;
  const { code, out, asked } = await run([list], { provider: "a", output: "json" });
  assert.deepEqual([code, JSON.parse(out), asked], [1, [list], ["a"]]);
  assert.match((await run([list])).out, /^a \(from the settings: no answer\)\n {2}no models\n$/);
});

Deno.test("modelsCommand() --refresh renews all providers, and reports them", async () => {
  const report = {
    from: "https://c.example/",
    date: "2100-01-02",
    providers: [{ name: "a", models: 3 }],
    missing: ["b"],
  };
  const io = fakeIo();
  const services = fakeServices({
    providerAdmin: () => Promise.resolve(fakeAdmin({ refreshModels: () => Promise.resolve(report) })),
  });
  const flags = { output: "text", refresh: true } as const;
  assert.equal(await modelsCommand({ services, io, flags }), 0);
  assert.equal(
    io.out,
    "Models of 2100-01-02 from https://c.example/: a 3\nThe catalogue lacks b; Vis keeps its earlier data of these providers\n",
  );
  await assert.rejects(modelsCommand({ services, io, flags: { ...flags, provider: "a" } }), /leave out --provider$/);
});
