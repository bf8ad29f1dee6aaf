import assert from "node:assert/strict";
import { join } from "node:path";
import { shipped } from "../../../extensions/index.ts";
import { openTraced } from "../../../src/app/session/open_session.ts";
import { ConfigError } from "../../../src/domain/errors.ts";
import { startOpenAiMock } from "../../helpers/wires/openai_mock.ts";
import { replyJson } from "../../helpers/scripted_provider.ts";
import { withFolder } from "../../helpers/with_folder.ts";
import { startCollector } from "../otel/_collector.ts";

const parts = { shipped, version: "1.2.3" };

Deno.test("openTraced() sends the spans of a query when the session closes", () =>
  withFolder(async (folder) => {
    await using collector = startCollector();
    const mock = await startOpenAiMock({ key: "k", reply: [replyJson(["6 * 7"], { final: "42" })] });
    try {
      await Deno.writeTextFile(join(folder, "config.jsonc"), '{ "localServers": false }');
      const env = {
        ...{ VIS_HOME: folder, VIS_BASE_URL: mock.baseUrl, VIS_API_KEY: "k", VIS_MODEL: "m-1" },
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      };
      const session = await openTraced({ cwd: folder, db: ":memory:" }, { ...parts, env });
      const { conversations, workspace } = session;
      const branch = await conversations.create({ title: "t", channel: "cli", workspace });
      await conversations.ask(branch, "What is it?", { signal: new AbortController().signal, emit: () => {} });
      await session.close();
      const names = collector.spans.map(({ name }) => name).toSorted();
      assert.deepEqual(names, ["chat m-1", "execute_tool typescript", "invoke_agent vis"]);
      assert.equal(new Set(collector.spans.map(({ traceId }) => traceId)).size, 1);
      assert.equal(collector.resource()["service.version"], "1.2.3");
    } finally {
      await mock.close();
    }
  }));

Deno.test("openTraced() sends nothing to a collector if no model is called, and passes errors on", () =>
  withFolder(async (folder) => {
    await using collector = startCollector();
    await Deno.writeTextFile(join(folder, "config.jsonc"), '{ "localServers": false }');
    const env = { VIS_HOME: folder, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    await (await openTraced({ cwd: folder, db: ":memory:", browse: true }, { ...parts, env })).close();
    await assert.rejects(openTraced({ cwd: folder, db: ":memory:" }, { ...parts, env }), ConfigError);
    assert.equal(collector.requests.length, 0);
  }));
