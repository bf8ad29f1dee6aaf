import { isLoopback, isSecureUrl, percentDecoded, serverUrl } from "../../../src/domain/kit/addresses.ts";
import assert from "node:assert/strict";

Deno.test("isSecureUrl() accepts https everywhere, and http on this machine", () => {
  for (const good of ["https://a.example/x", "http://127.0.0.1:8080/x", "http://localhost", "http://[::1]:1/"]) {
    assert.ok(isSecureUrl(good), good);
  }
  for (const bad of ["", "a.example", "http://a.example", "http://localhost.example", "file:///x", "ftp://localhost"]) {
    assert.ok(!isSecureUrl(bad), bad);
  }
});

Deno.test("isLoopback() knows the addresses that only this machine reaches", () => {
  for (const host of ["localhost", "127.0.0.1", "127.8.9.10", "127.1", "::1", "[::1]"]) {
    assert.ok(isLoopback(host), host);
  }
  for (const host of ["0.0.0.0", "::", "192.168.1.7", "127.example.com", "localhost.example", "::10"]) {
    assert.ok(!isLoopback(host), host);
  }
});

Deno.test("percentDecoded() keeps text that it cannot decode", () => {
  assert.equal(percentDecoded("a%20b%2Fc+d"), "a b/c+d");
  for (const text of ["100%", "%zz", "%e2%82"]) assert.equal(percentDecoded(text), text);
});

Deno.test("serverUrl() names an address that the server accepts", () => {
  const urls = ["127.0.0.1", "::1", "0.0.0.0", "::", "vis.local"].map((host) => serverUrl(host, 80));
  assert.deepEqual(urls, [
    "http://127.0.0.1:80/",
    "http://[::1]:80/",
    "http://localhost:80/",
    "http://localhost:80/",
    "http://vis.local:80/",
  ]);
});
