import assert from "node:assert/strict";
import fc from "fast-check";
import { proxyVariables } from "../../../src/app.ts";

const HTTP_PROXY = "http://proxy.example:3128";

Deno.test("proxyVariables() adds the entries to NO_PROXY that the runtime lacks", () => {
  const cases: readonly (readonly [given: string, set: string | undefined])[] = [
    ["localhost", undefined],
    [".corp.example,10.0.0.0/8", undefined],
    ["*", "*,0.0.0.0/0,::/0"],
    ["*.corp.example", "*.corp.example,.corp.example"],
    ["127.0.0.1:8080", "127.0.0.1:8080,127.0.0.1"],
    ["api.example:443, localhost", "api.example:443,api.example,localhost"],
    ["[::1]", "[::1],::1"],
    ["[::1]:8080", "[::1]:8080,::1"],
    ["::1", undefined],
    ["API.Example", "API.Example,api.example"],
    ["a.example b.example", "a.example,b.example"],
    ["", undefined],
  ];
  for (const [NO_PROXY, set] of cases) {
    assert.deepEqual(proxyVariables({ HTTP_PROXY, NO_PROXY }), set === undefined ? {} : { NO_PROXY: set }, NO_PROXY);
  }
});

Deno.test("proxyVariables() changes nothing without a proxy, and accepts lower-case names", () => {
  assert.deepEqual(proxyVariables({ NO_PROXY: "*" }), {});
  assert.deepEqual(proxyVariables({}), {});
  assert.deepEqual(proxyVariables({ https_proxy: HTTP_PROXY, no_proxy: "*.x" }), { NO_PROXY: "*.x,.x" });
  assert.deepEqual(proxyVariables({ http_proxy: HTTP_PROXY }), { HTTP_PROXY });
  assert.deepEqual(proxyVariables({ http_proxy: "http://other:1", HTTP_PROXY }), {});
  assert.deepEqual(proxyVariables({ HTTPS_PROXY: "http://me@proxy.example:1" }), {
    HTTPS_PROXY: "http://me:@proxy.example:1",
  });
  assert.deepEqual(proxyVariables({ HTTPS_PROXY: "http://me:pass@proxy.example:1" }), {});
  assert.deepEqual(proxyVariables({ http_proxy: "http://me@p:1" }), {
    HTTP_PROXY: "http://me:@p:1",
    http_proxy: "http://me:@p:1",
  });
});

Deno.test("proxyVariables() keeps every entry, and changes nothing the second time", () => {
  const entry = fc.oneof(fc.domain(), fc.ipV4(), fc.ipV6(), fc.stringMatching(/^[\w.:*[\]/-]+$/));
  fc.assert(fc.property(fc.array(entry, { minLength: 1 }), (entries) => {
    const { NO_PROXY = entries.join(",") } = proxyVariables({ HTTP_PROXY, NO_PROXY: entries.join(",") });
    for (const one of entries) assert.ok(NO_PROXY.split(",").includes(one), one);
    assert.equal(proxyVariables({ HTTP_PROXY, NO_PROXY })["NO_PROXY"] ?? NO_PROXY, NO_PROXY);
  }));
});
