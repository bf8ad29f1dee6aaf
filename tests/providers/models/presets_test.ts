import { loadModelData } from "../../../src/providers/models/model_data.ts";
import { discoverLocal, generalModel, PRESETS, usualAddresses } from "../../../src/providers/models/known_providers.ts";
import assert from "node:assert/strict";

Deno.test("PRESETS name everything that a request needs", () => {
  for (const [name, preset] of Object.entries(PRESETS)) {
    const { protocol, hostname, search, pathname } = new URL(preset.baseUrl);
    const local = preset.localPort !== undefined;
    assert.equal(protocol, local ? "http:" : "https:", name);
    assert.equal(hostname === "127.0.0.1", local, name);
    assert.deepEqual([search, pathname.endsWith("/") && pathname !== "/"], ["", false], name);
    if (preset.byKey) assert.ok(preset.keyNames.length > 0 && preset.key === "required", name);
    assert.match(name, /^[a-z][a-z-]*$/);
  }
});

Deno.test("PRESETS take no variable that serves other ends, unless the provider is named", () => {
  const names = Object.values(PRESETS).filter(({ byKey }) => byKey).flatMap(({ keyNames }) => keyNames);
  assert.equal(new Set(names).size, names.length, "one variable chooses one provider");
  for (const shared of ["GITHUB_TOKEN", "GH_TOKEN"]) assert.equal(names.includes(shared), false);
});

Deno.test("PRESETS have default models that their data knows", async () => {
  for (const [name, { data, defaultModel }] of Object.entries(PRESETS)) {
    if (data === null || defaultModel === null || name === "alibaba") continue;
    assert.ok((await loadModelData(data)).find(defaultModel), `${name}: ${defaultModel}`);
  }
});

Deno.test("PRESETS of services whose models are known have a default model", () => {
  for (const [name, { data, defaultModel }] of Object.entries(PRESETS)) {
    if (data !== null) assert.notEqual(defaultModel, null, name);
  }
});

Deno.test("generalModel() prefers the default model, then the first known model for general use", () => {
  const preset = PRESETS.openai;
  const usual = preset.defaultModel ?? assert.fail();
  const known = ["text-embedding-3", "gpt-5-pro", "gpt-5.3-codex", "gpt-5", usual];
  const choose = (offered: readonly string[]) =>
    generalModel(offered, { preset, knows: (model) => known.includes(model) });
  assert.equal(choose(["gpt-5", usual]), usual);
  assert.equal(choose(["unknown", "text-embedding-3", "gpt-5-pro", "gpt-5.3-codex", "gpt-5"]), "gpt-5");
  assert.equal(choose(["unknown", "gpt-5-pro"]), null);
  assert.equal(generalModel(["gpt-5"], { preset: null, knows: () => true }), "gpt-5");
});

const PATIENT = { probeMs: 30_000 };

interface Served extends AsyncDisposable {
  readonly baseUrl: string;
}

function serve(answer: (request: Request) => Response | Promise<Response>): Served {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, answer);
  return { baseUrl: `http://127.0.0.1:${server.addr.port}/v1`, [Symbol.asyncDispose]: () => server.shutdown() };
}

function models(...ids: string[]): Served {
  return serve((request) => {
    assert.equal(new URL(request.url).pathname, "/v1/models");
    return Response.json({ object: "list", data: ids.map((id) => ({ id })) });
  });
}

Deno.test("discoverLocal() finds servers in the order of the addresses, without models that cannot chat", async () => {
  await using ollama = models("nomic-embed-text:latest", "qwen3:8b", "llama3:8b");
  await using studio = models("gemma");
  const found = await discoverLocal([
    { preset: "ollama", baseUrl: ollama.baseUrl },
    { preset: "lmstudio", baseUrl: studio.baseUrl },
  ], PATIENT);
  assert.deepEqual(found.map(({ title, models }) => [title, models]), [
    ["Ollama", ["qwen3:8b", "llama3:8b"]],
    ["LM Studio", ["gemma"]],
  ]);
});

Deno.test("discoverLocal() distinguishes a server without models from another kind of server", async () => {
  await using empty = serve(() => Response.json({ object: "list", data: null }));
  await using page = serve(() => new Response("<html>", { headers: { "content-type": "text/html" } }));
  await using other = serve(() => Response.json({ hello: 1 }));
  await using failing = serve(() => Response.json({ data: [{ id: "x" }] }, { status: 500 }));
  await using away = serve(() => Response.redirect("http://127.0.0.1:1/", 302));
  const addresses = [empty, page, other, failing, away].map(({ baseUrl }) => ({ preset: "vllm", baseUrl }));
  assert.deepEqual((await discoverLocal(addresses, PATIENT)).map(({ models }) => models), [[]]);
});

Deno.test("discoverLocal() waits for no server beyond its limit, and asks all at once", async () => {
  const release = Promise.withResolvers<void>();
  await using slow = serve(async () => {
    await release.promise;
    return Response.json({ data: [{ id: "late" }] });
  });
  await using quick = models("early");
  const gone = models();
  await gone[Symbol.asyncDispose]();
  const addresses = [slow, slow, gone, quick].map(({ baseUrl }) => ({ preset: "vllm", baseUrl }));
  const found = await discoverLocal(addresses, { probeMs: 1_500 });
  assert.deepEqual(found.map((server) => server.models), [["early"]]);
  release.resolve();
});

Deno.test("discoverLocal() reads no endless answer", async () => {
  await using endless = serve(() => {
    const chunk = new TextEncoder().encode(`"${"x".repeat(65_536)}",`);
    return new Response(new ReadableStream({ pull: (controller) => controller.enqueue(chunk) }));
  });
  assert.deepEqual(await discoverLocal([{ preset: "vllm", baseUrl: endless.baseUrl }], { probeMs: 2000 }), []);
});

Deno.test("usualAddresses() are on this machine only", () => {
  const addresses = usualAddresses(() => null);
  assert.deepEqual(addresses.map(({ preset }) => preset), ["ollama", "lmstudio", "vllm"]);
  for (const { baseUrl } of addresses) assert.equal(new URL(baseUrl).hostname, "127.0.0.1");
});
