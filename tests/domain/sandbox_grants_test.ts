import assert from "node:assert/strict";
import { parseNetGrant } from "../../src/domain/sandbox_grants.ts";

Deno.test("parseNetGrant() accepts addresses with a port, and localhost as 127.0.0.1", () => {
  const cases: Readonly<Record<string, [string, number]>> = {
    "127.0.0.1:8080": ["127.0.0.1", 8080],
    "10.0.0.255:1": ["10.0.0.255", 1],
    "localhost:65535": ["127.0.0.1", 65535],
    "LOCALHOST:80": ["127.0.0.1", 80],
    "[::1]:443": ["::1", 443],
    "[2001:DB8:0:0::1]:443": ["2001:db8::1", 443],
  };
  for (const [text, [host, port]] of Object.entries(cases)) assert.deepEqual(parseNetGrant(text), { host, port });
});

Deno.test("parseNetGrant() refuses names with the reason and an alternative", () => {
  for (
    const text of ["example.com:443", "localhost.evil.org:80", "0x7f000001:80", "*:80"]
  ) {
    assert.throws(() => parseNetGrant(text), /the lookup of a name needs UDP.*main process/, text);
  }
  for (const text of ["256.1.1.1:80", "127.1:80"]) {
    assert.throws(
      () => parseNetGrant(text),
      /: it is not a valid IPv4 address; write one such as 127\.0\.0\.1:8080$/,
      text,
    );
  }
});

Deno.test("parseNetGrant() refuses anything but an address with one port", () => {
  const texts = ["", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:80,443", "::1:80", "[::1]", "[::g]:80"];
  for (const text of [...texts, "http://127.0.0.1:80", "127.0.0.1:80/x", "a@127.0.0.1:80", "127.0.0.1:80 "]) {
    assert.throws(() => parseNetGrant(text), TypeError, text);
  }
});
