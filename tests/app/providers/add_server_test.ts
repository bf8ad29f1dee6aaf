import assert from "node:assert/strict";
import { join } from "node:path";
import { addServer } from "../../../src/app/providers/provider_admin.ts";
import { serverName } from "../../../src/app/providers/choose_providers.ts";
import { withFolder } from "../../helpers/with_folder.ts";

Deno.test("serverName() is the host of the address", () => {
  assert.equal(serverName("https://llm.example.com/v1"), "llm.example.com");
  assert.equal(serverName("http://127.0.0.1:8080/v1"), "127.0.0.1-8080");
  assert.equal(serverName("http://[::1]:8080/v1"), "1-8080");
  assert.throws(
    () => serverName("llm.example.com"),
    /Cannot use the address llm\.example\.com: it is not an http or https URL; write one such as .*/,
  );
});

Deno.test("addServer() adds a server to the configuration, keeps other settings, and replaces its own", () =>
  withFolder(async (home) => {
    const path = join(home, "config.jsonc");
    await addServer({ baseUrl: "http://127.0.0.1:8080/v1", model: "a" }, { home });
    const text = (await Deno.readTextFile(path)).replace('"name": "127', '// mine\n      "name": "127');
    await Deno.writeTextFile(path, text);
    assert.equal(await addServer({ baseUrl: "https://llm.example.com/v1", model: "b" }, { home }), "llm.example.com");
    await addServer({ baseUrl: "https://llm.example.com/v2", model: "c" }, { home });
    const now = await Deno.readTextFile(path);
    assert.match(now, /\/\/ mine/);
    assert.deepEqual(JSON.parse(now.replace("// mine", "")), {
      providers: [
        { name: "127.0.0.1-8080", baseUrl: "http://127.0.0.1:8080/v1", models: [{ name: "a" }] },
        { name: "llm.example.com", baseUrl: "https://llm.example.com/v2", models: [{ name: "c" }] },
      ],
    });
  }));
