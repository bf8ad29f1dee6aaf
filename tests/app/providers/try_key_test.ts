import assert from "node:assert/strict";
import { join } from "node:path";
import { AppProviderAdmin } from "../../../src/app/providers/provider_admin.ts";
import { Credentials } from "../../../src/providers/credentials.ts";
import { UsageError } from "../../../src/domain/errors.ts";
import { startOpenAiMock } from "../../helpers/wires/openai_mock.ts";
import { withFolder } from "../../helpers/with_folder.ts";
import { settingsOf } from "../_settings.ts";

const ALWAYS = new AbortController().signal;

Deno.test("tryKey() distinguishes a valid key from a refused one, and saves neither", () =>
  withFolder(async (home) => {
    const mock = await startOpenAiMock({ key: "right-key", reply: [] });
    const providers = [{ name: "own", baseUrl: mock.baseUrl }];
    const admin = new AppProviderAdmin(await settingsOf({ home, config: { localServers: false, providers } }));
    assert.match((await admin.tryKey("own", "right-key", ALWAYS))?.found ?? "", /^it offers \d+ models?$/);
    assert.equal((await admin.tryKey("own", "wrong-key", ALWAYS))?.state, "refused");
    await assert.rejects(admin.tryKey("own", "two words", ALWAYS), UsageError);
    await mock.close();
    const trial = await admin.tryKey("own", "right-key", ALWAYS);
    assert.deepEqual([trial?.state, trial?.found.includes("right-key")], ["unknown", false]);
    assert.deepEqual(await new Credentials(join(home, "auth.json")).all(), {});
  }));

Deno.test("tryKey() names a model if the service does not offer the default model", () =>
  withFolder(async (home) => {
    let offered: readonly string[] = [];
    await using server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen: () => {} },
      () => Response.json({ data: offered.map((id) => ({ id })) }),
    );
    const baseUrl = `http://127.0.0.1:${server.addr.port}/v1`;
    const providers = [{ name: "zai", baseUrl }];
    const tried = async (config: object, models: readonly string[]) => {
      offered = models;
      const admin = new AppProviderAdmin(await settingsOf({ home, config: { localServers: false, ...config } }));
      return (await admin.tryKey("zai", "right-key", ALWAYS))?.model;
    };
    assert.equal(await tried({ providers }, ["unknown-1", "glm-4.7"]), "glm-4.7");
    assert.equal(await tried({ providers }, ["glm-4.7", "glm-5.2"]), undefined);
    assert.equal(await tried({ providers, model: "zai/glm-5" }, ["glm-4.7"]), undefined);
  }));

Deno.test("tryKey() sends a key to no other server than its provider's", () =>
  withFolder(async (home) => {
    const [own, other] = [await startOpenAiMock({ reply: [] }), await startOpenAiMock({ reply: [] })];
    const config = { localServers: false, baseUrl: other.baseUrl, providers: [{ name: "own", baseUrl: own.baseUrl }] };
    const asked = async (provider: string | null): Promise<readonly number[]> => {
      const admin = new AppProviderAdmin(await settingsOf({ home, config: { ...config, provider } }));
      assert.equal((await admin.tryKey("own", "own-key", ALWAYS))?.state, "works");
      return [own.modelRequests, other.modelRequests];
    };
    assert.deepEqual(await asked(null), [1, 0]);
    assert.deepEqual(await asked("own"), [1, 1]); // The base URL is the address of the named provider.
    await Promise.all([own.close(), other.close()]);
  }));

Deno.test("tryKey() sends a request that needs the key to a service that lists its models without one", () =>
  withFolder(async (home) => {
    await using server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, ({ url, headers }) => {
      if (url.endsWith("/models")) return Response.json({ data: [{ id: "m" }] });
      const isRight = url.endsWith("/v1/key") && headers.get("authorization") === "Bearer right-key";
      return new Response("", { status: isRight ? 200 : 401 });
    });
    const providers = [{ name: "openrouter", baseUrl: `http://127.0.0.1:${server.addr.port}/v1` }];
    const admin = new AppProviderAdmin(await settingsOf({ home, config: { providers } }));
    assert.equal((await admin.tryKey("openrouter", "right-key", ALWAYS))?.state, "works");
    assert.deepEqual(await admin.tryKey("openrouter", "wrong-key", ALWAYS), {
      state: "refused",
      found: "status 401",
    });
  }));

Deno.test("tryKey() takes a refusal of the proxy for no refusal of the key", () =>
  withFolder(async (home) => {
    let status = 402;
    await using server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen: () => {} },
      () => Response.json({ error: { message: "no" } }, { status }),
    );
    const providers = [{ name: "own", baseUrl: `http://127.0.0.1:${server.addr.port}/v1` }];
    const admin = new AppProviderAdmin(await settingsOf({ home, config: { localServers: false, providers } }));
    assert.deepEqual(await admin.tryKey("own", "a-key", ALWAYS), {
      state: "refused",
      found: "status 402: the account has no credit",
    });
    status = 407;
    const trial = await admin.tryKey("own", "a-key", ALWAYS);
    assert.equal(trial?.state, "unknown");
    assert.match(trial?.found ?? "", /^Cannot reach .*: the proxy requires a login \(407\)/);
  }));

Deno.test("tryKey() asks Telegram about the token of a bot, and shows no part of it", () =>
  withFolder(async (home) => {
    const right = `1:${"r".repeat(30)}`;
    await using server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, ({ url }) =>
      url.includes(right)
        ? Response.json({ ok: true, result: { id: 1, is_bot: true, first_name: "B", username: "b_bot" } })
        : Response.json({ ok: false, error_code: 401, description: "Unauthorized" }, { status: 401 }));
    const telegram = { apiUrl: `http://127.0.0.1:${server.addr.port}` };
    const admin = new AppProviderAdmin(await settingsOf({ home, config: { telegram } }));
    assert.deepEqual(await admin.tryKey("telegram", right, ALWAYS), { state: "works", found: "it belongs to @b_bot" });
    const refused = await admin.tryKey("telegram", `2:${"w".repeat(30)}`, ALWAYS);
    assert.deepEqual([refused?.state, refused?.found.includes("www")], ["refused", false]);
  }));
