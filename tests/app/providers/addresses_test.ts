import assert from "node:assert/strict";
import { join } from "node:path";
import fc from "fast-check";
import { settingsOf } from "../_settings.ts";
import { buildRouter, makeProvider } from "../../../src/app/providers/build_router.ts";
import { chooseProviders } from "../../../src/app/providers/choose_providers.ts";
import { AppProviderAdmin } from "../../../src/app/providers/provider_admin.ts";
import { ConfigError } from "../../../src/domain/errors.ts";
import { Credentials } from "../../../src/providers/credentials.ts";
import { environmentAddress, PRESETS, usualAddresses } from "../../../src/providers/models/known_providers.ts";
import { runs } from "../../helpers/long_part.ts";

const GATE = "https://gate.example/proxy";

/** The paths of `fc.webUrl` take more than a second to set up. */
const URLS = fc.tuple(fc.constantFrom("http", "https"), fc.webAuthority(), fc.stringMatching(/^(?:\/[\w.~-]*)*$/))
  .map(([scheme, authority, path]) => `${scheme}://${authority}${path}`);

function addressOf(preset: string, given: string): string | undefined {
  const found = PRESETS[preset] ?? assert.fail(preset);
  return environmentAddress(found, (name) => name === found.baseUrlNames?.[0] ? given : null)?.baseUrl;
}

Deno.test("environmentAddress() reads each variable as the service's own clients do", () => {
  const cases: readonly (readonly [preset: string, given: string, address: string])[] = [
    ["openai", "https://gate.example/v1/", "https://gate.example/v1"],
    ["openai", "https://gate.example", "https://gate.example"],
    ["openai-responses", GATE, GATE],
    ["anthropic", "https://gate.example", "https://gate.example/v1"],
    ["anthropic", `${GATE}/`, `${GATE}/v1`],
    ["anthropic", "https://gate.example/v1", "https://gate.example/v1"],
    ["google", "https://gate.example/", "https://gate.example/v1beta"],
    ["google", "https://gate.example/v1beta", "https://gate.example/v1beta"],
    ["zai", "https://open.example/api/paas/v4", "https://open.example/api/paas/v4"],
    ["ollama", "gpu", "http://gpu:11434/v1"],
    ["ollama", "gpu:8080", "http://gpu:8080/v1"],
    ["ollama", ":8080", "http://127.0.0.1:8080/v1"],
    ["ollama", "0.0.0.0", "http://127.0.0.1:11434/v1"],
    ["ollama", "0.0.0.0:8080", "http://127.0.0.1:8080/v1"],
    ["ollama", "0", "http://127.0.0.1:11434/v1"],
    ["ollama", "0::", "http://[::1]:11434/v1"],
    ["ollama", "http://gpu", "http://gpu/v1"],
    ["ollama", "https://gpu.example", "https://gpu.example/v1"],
    ["ollama", "http://gpu:11434/", "http://gpu:11434/v1"],
    ["ollama", "https://gpu.example/ollama", "https://gpu.example/ollama/v1"],
    ["ollama", "[::1]:8080", "http://[::1]:8080/v1"],
    ["ollama", "[::]", "http://[::1]:11434/v1"],
    ["ollama", "::1", "http://[::1]:11434/v1"],
    ["ollama", '"gpu"', "http://gpu:11434/v1"],
  ];
  for (const [preset, given, address] of cases) assert.equal(addressOf(preset, given), address, `${preset} ${given}`);
});

Deno.test("environmentAddress() returns an http address, or throws a ConfigError without the login, for any value", () => {
  fc.assert(
    fc.property(
      fc.constantFrom("openai", "anthropic", "google", "ollama"),
      fc.oneof(fc.string(), URLS, fc.ipV6(), fc.domain(), fc.stringMatching(/^[\w.:/@[\]-]*$/)),
      (preset, given) => {
        try {
          const address = addressOf(preset, given);
          assert.ok(address !== undefined && /^https?:\/\/[^/]/.test(address) && !address.endsWith("/"), address);
          assert.equal(addressOf(preset, address), address);
        } catch (error) {
          assert.ok(error instanceof ConfigError, String(error));
        }
      },
    ),
    { numRuns: runs(30, 100) },
  );
  assert.throws(
    () => addressOf("openai", "ftp://me:secret@gate.example"),
    { message: "Cannot use OPENAI_BASE_URL: ftp://gate.example is not an http or https URL; correct the variable" },
  );
});

interface Sent {
  readonly to: string | undefined;
  readonly key: string | null;
  readonly notes: readonly string[];
}

async function sent(
  env: Readonly<Record<string, string>>,
  { config = {}, saved = {} }: { readonly config?: object; readonly saved?: Readonly<Record<string, string>> } = {},
): Promise<Sent> {
  const home = await Deno.makeTempDir({ prefix: "vis-address-" });
  try {
    const credentials = new Credentials(join(home, "auth.json"));
    for (const [name, key] of Object.entries(saved)) await credentials.set(name, { type: "key", key });
    const settings = await settingsOf({ config, env: { VIS_MODEL: "m", ...env }, home });
    const { providers: [root] } = await chooseProviders({ settings, credentials, addresses: [] });
    const { notes } = await buildRouter(settings, { addresses: [] });
    return { to: root.baseUrl, key: root.key.value, notes };
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

Deno.test("a key of the environment is sent only to the address of the environment", async () => {
  for (
    const [preset, keyName, keyed] of [
      ["openai", "OPENAI_API_KEY", { VIS_PROVIDER: "openai" }],
      ["openai", "OPENAI_API_KEY", {}],
      ["openai", "VIS_API_KEY", {}],
      ["openai-responses", "OPENAI_API_KEY", { VIS_PROVIDER: "openai-responses" }],
      ["anthropic", "ANTHROPIC_API_KEY", {}],
      ["anthropic", "ANTHROPIC_AUTH_TOKEN", {}],
      ["google", "GEMINI_API_KEY", {}],
      ["zai", "ZAI_API_KEY", {}],
    ] as const
  ) {
    const { baseUrlNames = [], versionPath = "", baseUrl } = PRESETS[preset] ?? assert.fail(preset);
    const [baseUrlName = ""] = baseUrlNames;
    const env = { [keyName]: "gateway-key", ...keyed };
    const moved = await sent({ ...env, [baseUrlName]: GATE });
    assert.deepEqual([moved.to, moved.key], [GATE + versionPath, "gateway-key"], keyName);
    assert.ok(moved.notes.includes(`${preset} is at gate.example (${baseUrlName})`), moved.notes.join());
    assert.equal((await sent(env)).to, baseUrl);
  }
  assert.equal((await sent({ OPENAI_API_KEY: "gateway-key", OPENAI_API_BASE: GATE })).to, GATE, "its older name");
});

Deno.test("a saved key, and one of keyEnv, do not follow the address of the environment, as a note explains", async () => {
  const saved = await sent({ OPENAI_BASE_URL: GATE, VIS_PROVIDER: "openai" }, { saved: { openai: "own-key-1" } });
  // Without an address of its own, VIS_PROVIDER=openai takes the saved key.
  assert.deepEqual([saved.to, saved.key], ["https://api.openai.com/v1", "own-key-1"]);
  assert.deepEqual(saved.notes.filter((note) => note.includes("OPENAI_BASE_URL")), [
    "OPENAI_BASE_URL has no effect: the key in use belongs to api.openai.com",
  ]);
  const config = { providers: [{ name: "work", preset: "anthropic", keyEnv: "WORK_KEY", models: [{ name: "m" }] }] };
  const named = await sent({ ANTHROPIC_BASE_URL: GATE, WORK_KEY: "work-key" }, { config });
  assert.deepEqual([named.to, named.key], ["https://api.anthropic.com/v1", "work-key"]);
  const own = { providers: [{ name: "openai", baseUrl: "https://own.example/v1", models: [{ name: "m" }] }] };
  assert.equal(
    (await sent({ OPENAI_BASE_URL: GATE, OPENAI_API_KEY: "k" }, { config: own })).to,
    "https://own.example/v1",
  );
});

Deno.test("OPENAI_API_KEY goes to OpenAI, and to a server of VIS_BASE_URL only on this machine", async () => {
  const other = await sent({ OPENAI_API_KEY: "openai-key", VIS_BASE_URL: "https://other.example/v1" });
  assert.equal(other.key, null);
  assert.match(
    other.notes.join(),
    /Vis does not send OPENAI_API_KEY to other\.example \(set VIS_API_KEY for this address\)/,
  );
  const takes = async (env: Readonly<Record<string, string>>) => (await sent({ OPENAI_API_KEY: "k", ...env })).key;
  assert.equal(await takes({ VIS_BASE_URL: "http://127.0.0.1:9/v1" }), "k");
  assert.equal(await takes({ VIS_BASE_URL: "https://api.openai.com/v1" }), "k");
  assert.equal(await takes({ VIS_BASE_URL: `${GATE}/v1`, OPENAI_BASE_URL: "https://gate.example/v2" }), "k");
  assert.equal(await takes({ VIS_BASE_URL: "https://other.example/v1", VIS_API_KEY: "own" }), "own");
});

Deno.test("a key of a named provider goes to its own server, and to a server of VIS_BASE_URL only on this machine", async () => {
  const keys = { OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k", WORK_KEY: "k" };
  const work = { name: "work", baseUrl: "https://work.example/v1", keyEnv: "WORK_KEY", models: [{ name: "m" }] };
  for (
    const [provider, own, keyName] of [
      ["openai", "https://api.openai.com/v9", "OPENAI_API_KEY"],
      ["openai-responses", "https://api.openai.com/v9", "OPENAI_API_KEY"],
      ["anthropic", "https://api.anthropic.com/v9", "ANTHROPIC_API_KEY"],
      ["work", "https://work.example/v9", "WORK_KEY"],
    ] as const
  ) {
    const at = async (VIS_BASE_URL: string, env: Readonly<Record<string, string>> = keys): Promise<Sent> =>
      await sent({ ...env, VIS_PROVIDER: provider, VIS_BASE_URL }, { config: { providers: [work] } });
    const said = `Vis does not send ${keyName} to gate.example (set VIS_API_KEY for this address)`;
    if (provider === "work") {
      // An entry with `keyEnv` and no preset requires its key.
      await assert.rejects(at(GATE), { message: `Cannot use provider work: it has no key; ${said}` });
    } else {
      const other = await at(GATE);
      assert.deepEqual([other.key, other.notes.includes(said)], [null, true], other.notes.join());
    }
    assert.equal((await at(own)).key, "k", provider);
    assert.equal((await at("http://127.0.0.1:9/v1")).key, "k", provider);
    assert.equal((await at(GATE, { ...keys, VIS_API_KEY: "own" })).key, "own", provider);
  }
  const saved = await sent({ VIS_PROVIDER: "anthropic", VIS_BASE_URL: GATE }, { saved: { anthropic: "own-key-1" } });
  assert.deepEqual([saved.to, saved.key], [GATE, null]);
});

Deno.test("a key that is saved while the environment gives an address goes there from then on", async () => {
  const home = await Deno.makeTempDir({ prefix: "vis-address-" });
  try {
    const at = await settingsOf({ home, env: { ANTHROPIC_BASE_URL: GATE, VIS_PROVIDER: "anthropic" } });
    await new AppProviderAdmin(at).saveKey("anthropic", "gateway-key-1");
    for (const env of [{}, { ANTHROPIC_BASE_URL: "https://third.example" }]) {
      const admin = new AppProviderAdmin(await settingsOf({ home, env: { VIS_PROVIDER: "anthropic", ...env } }));
      const { providers } = await admin.providers({ check: false, signal: new AbortController().signal });
      assert.equal(providers[0]?.baseUrl, `${GATE}/v1`);
      const [key] = await admin.keys();
      assert.equal(
        key?.address,
        "ANTHROPIC_BASE_URL" in env
          ? "ANTHROPIC_BASE_URL has no effect: the key in use belongs to gate.example"
          : undefined,
      );
    }
    const [key] = await new AppProviderAdmin(
      await settingsOf({
        home,
        env: { VIS_PROVIDER: "anthropic", ANTHROPIC_API_KEY: "k-123456", ANTHROPIC_BASE_URL: GATE },
      }),
    ).keys();
    assert.equal(key?.address, `${GATE}/v1 (ANTHROPIC_BASE_URL)`);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
});

Deno.test("ANTHROPIC_AUTH_TOKEN is sent as a bearer token, other keys as Anthropic's clients send them", async () => {
  const seen: (string | null)[][] = [];
  await using server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, ({ headers }) => {
    seen.push([headers.get("authorization"), headers.get("x-api-key")]);
    return Response.json({ data: [{ id: "m" }] });
  });
  const env = { ANTHROPIC_BASE_URL: `http://127.0.0.1:${server.addr.port}` };
  for (const key of [{ ANTHROPIC_AUTH_TOKEN: "a-token" }, { ANTHROPIC_API_KEY: "a-key" }]) {
    const settings = await settingsOf({ env: { ...env, ...key } });
    const { providers: [root] } = await chooseProviders({ settings, credentials: new Credentials(null) });
    await (await makeProvider(root, "m")).provider.models({ signal: AbortSignal.timeout(5_000) });
  }
  assert.deepEqual(seen, [["Bearer a-token", null], [null, "a-key"]]);
});

Deno.test("usualAddresses() has Ollama at the address of OLLAMA_HOST", () => {
  const found = usualAddresses((name) => name === "OLLAMA_HOST" ? "gpu:99" : null);
  assert.equal(found.find(({ preset }) => preset === "ollama")?.baseUrl, "http://gpu:99/v1");
});
