import assert from "node:assert/strict";
import { webSettings } from "../../src/app/web_settings.ts";
import { DEFAULT_CONFIG } from "../../src/config/defaults.ts";
import { ConfigSchema } from "../../src/config/schema.ts";

Deno.test("webSettings() hands the allowed hosts to the extension, and nothing while there are none", () => {
  const settings = { config: DEFAULT_CONFIG };
  assert.equal(webSettings(settings), settings);
  const web = { hosts: ["example.org"], local: [] };
  const { config } = webSettings({ config: { ...DEFAULT_CONFIG, web } });
  assert.deepEqual(config.extensions.config, { "vis.web": web });
});

Deno.test("web.hosts holds hosts, web.local hosts with their ports, and nothing else", () => {
  const ok = (web: object): boolean => ConfigSchema.safeParse({ web }).success;
  assert.ok(
    ok({ hosts: ["*", "example.org", "*.example.org", "example.org:8443", "[2606:4700::1111]:443", "bücher.example"] }),
  );
  assert.ok(ok({ local: ["localhost:3000", "127.0.0.1:80", "[::1]:8080"] }));
  for (
    const host of ["", "https://example.org", "example.org/path", "a*.example.org", "example.org:", "a b", "user@host"]
  ) {
    assert.ok(!ok({ hosts: [host] }), host);
  }
  for (const host of ["localhost", "*:80", "*.local:80", "http://localhost:80"]) {
    assert.ok(!ok({ local: [host] }), host);
  }
});
