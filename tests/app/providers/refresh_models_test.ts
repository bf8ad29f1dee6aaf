import assert from "node:assert/strict";
import { join } from "node:path";
import { refreshModels } from "../../../src/app/providers/refresh_models.ts";
import { DEFAULT_CONFIG } from "../../../src/config/defaults.ts";
import { Cancelled, ConfigError } from "../../../src/domain/errors.ts";
import { loadModelData } from "../../../src/providers/models/model_data.ts";
import { withFolder } from "../../helpers/with_folder.ts";

const model = { id: "claude-sonnet-5", cost: { input: 9, output: 19 }, limit: { context: 1_000, output: 100 } };
const CATALOG = JSON.stringify({ anthropic: { models: { "claude-sonnet-5": model } } });
const NOW = Date.parse("2100-03-04T05:06:07Z");

async function withCatalog(
  respond: (request: Request) => Response | Promise<Response>,
  run: (
    place: { readonly home: string; refresh(url?: string, signal?: AbortSignal): ReturnType<typeof refreshModels> },
  ) => Promise<void>,
): Promise<void> {
  await withFolder(async (home) => {
    await using server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, respond);
    const address = `http://127.0.0.1:${server.addr.port}/api.json`;
    const refresh = (modelCatalog = address, signal = new AbortController().signal) =>
      refreshModels({ config: { ...DEFAULT_CONFIG, modelCatalog }, home }, { signal, now: NOW });
    await run({ home, refresh });
  });
}

async function unchanged(home: string): Promise<void> {
  assert.equal((await loadModelData("anthropic", home)).find("claude-sonnet-5")?.price?.input, 2);
  assert.deepEqual(await Array.fromAsync(Deno.readDir(home)), []);
}

Deno.test("refreshModels() stores the data of a catalogue with its day, and names missing providers", async () => {
  await withCatalog(() => new Response(CATALOG), async ({ home, refresh }) => {
    const { from, ...report } = await refresh();
    assert.match(from, /^http:\/\/127\.0\.0\.1:/);
    assert.deepEqual(report, {
      ...{ date: "2100-03-04", providers: [{ name: "anthropic", models: 1 }] },
      missing: ["openai", "google", "openrouter", "github-copilot", "zai", "alibaba"],
    });
    const data = await loadModelData("anthropic", home);
    assert.deepEqual([data.date, data.find("claude-sonnet-5")?.price?.input], ["2100-03-04", 9]);
    const names = (await Array.fromAsync(Deno.readDir(join(home, "models")))).map(({ name }) => name);
    assert.deepEqual(names, ["anthropic.json"]);
  });
});

Deno.test("refreshModels() names the file that it cannot write, and the way out", async () => {
  await withCatalog(() => new Response(CATALOG), async ({ home, refresh }) => {
    await Deno.mkdir(join(home, "models/anthropic.json"), { recursive: true });
    await assert.rejects(
      refresh(),
      /^ConfigError: Cannot save the models of anthropic in .*anthropic\.json: .*; correct this, and repeat vis models --refresh$/,
    );
  });
});

Deno.test("refreshModels() changes nothing if the catalogue is broken, huge, absent or insecure", async () => {
  const table: readonly (readonly [() => Response, RegExp])[] = [
    [() => new Response("<html>"), /Cannot refresh the models from http:.*, and Vis changed nothing/s],
    [() => new Response("{}"), /it has none of the services/],
    [
      () => new Response(CATALOG.replace('"output":19', '"output":-19')),
      /cost\.output of anthropic claude-sonnet-5 must/,
    ],
    [
      () => new Response(" ".repeat(17 << 20)),
      /Cannot refresh the models from .*: it is larger than 16777216 bytes, the limit, and Vis changed/i,
    ],
    [() => new Response("", { status: 503 }), /status 503/i],
    [() => Response.redirect("http://catalog.example/api.json"), /neither https nor on this machine/],
  ];
  for (const [respond, message] of table) {
    await withCatalog(respond, async ({ home, refresh }) => {
      await assert.rejects(refresh(), (error) => {
        assert.ok(error instanceof ConfigError);
        assert.match(error.message, message);
        return true;
      });
      await unchanged(home);
    });
  }
  await withCatalog(() => new Response(CATALOG), async ({ home, refresh }) => {
    await assert.rejects(
      refresh("http://127.0.0.1:9/"),
      /check the network and try again, or name another catalogue with vis config set modelCatalog/,
    );
    await assert.rejects(refresh("http://catalog.example/"), /neither an https address nor on this machine/);
    await assert.rejects(refresh(undefined, AbortSignal.abort()), Cancelled);
    await unchanged(home);
  });
});
