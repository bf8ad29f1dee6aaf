import assert from "node:assert/strict";
import { reachOf, type WebRules } from "../../../extensions/web/open_connection.ts";

const reach = (url: string, rules: Partial<WebRules>) => reachOf(new URL(url), { hosts: [], local: [], ...rules });

Deno.test("reachOf() compares whole names and ports", () => {
  const hosts = ["example.org", "*.wild.example", "port.example:8443", "BÜCHER.example"];
  for (
    const url of [
      "https://example.org/",
      "http://EXAMPLE.org./a",
      "https://a.wild.example",
      "https://a.b.wild.example",
      "https://port.example:8443/",
      "https://xn--bcher-kva.example/",
    ]
  ) assert.equal(reach(url, { hosts }), "public", url);
  for (
    const url of [
      "https://example.org:8443/",
      "https://example.org.evil.example/",
      "https://evilexample.org/",
      "https://wild.example/",
      "https://evilwild.example/",
      "https://port.example/",
      "https://a.example.org/",
    ]
  ) assert.equal(reach(url, { hosts }), null, url);
  assert.equal(reach("https://example.org/", {}), null);
  assert.equal(reach("https://anything.example/", { hosts: ["*"] }), "public");
  assert.equal(reach("https://anything.example:22/", { hosts: ["*"] }), null);
});

Deno.test("reachOf() lets local ones be reached by their exact host and port", () => {
  const rules = { hosts: ["*"], local: ["localhost:3000", "[::1]:80", "127.0.0.1:8080"] };
  assert.equal(reach("http://localhost:3000/", rules), "local");
  assert.equal(reach("http://[0:0::1]/", rules), "local");
  assert.equal(reach("http://0x7f.1:8080/", rules), "local");
  assert.equal(reach("http://localhost:3001/", rules), null);
  assert.equal(reach("http://localhost/", rules), "public"); // The address of the name is then refused.
});
