import assert from "node:assert/strict";
import { join } from "node:path";
import { AppProviderAdmin } from "../../../src/app/providers/provider_admin.ts";
import { Credentials } from "../../../src/providers/credentials.ts";
import { UsageError } from "../../../src/domain/errors.ts";
import { startOpenAiMock } from "../../helpers/wires/openai_mock.ts";
import { withFolder } from "../../helpers/with_folder.ts";
import { settingsOf } from "../_settings.ts";

const ALWAYS = new AbortController().signal;

Deno.test("tryKey() tells a key that works from one that is refused, and keeps neither", () =>
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

Deno.test("tryKey() shows a key to no other server than that of its provider", () =>
  withFolder(async (home) => {
    const [own, other] = [await startOpenAiMock({ reply: [] }), await startOpenAiMock({ reply: [] })];
    const config = { localServers: false, baseUrl: other.baseUrl, providers: [{ name: "own", baseUrl: own.baseUrl }] };
    const asked = async (provider: string | null): Promise<readonly number[]> => {
      const admin = new AppProviderAdmin(await settingsOf({ home, config: { ...config, provider } }));
      assert.equal((await admin.tryKey("own", "own-key", ALWAYS))?.state, "works");
      return [own.modelRequests, other.modelRequests];
    };
    assert.deepEqual(await asked(null), [1, 0]);
    assert.deepEqual(await asked("own"), [1, 1]); // the base URL is the address of the provider that is named
    await Promise.all([own.close(), other.close()]);
  }));
