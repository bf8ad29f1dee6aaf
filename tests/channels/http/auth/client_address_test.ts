import assert from "node:assert/strict";
import { addressReader } from "../../../../src/channels/http/admission.ts";

const from = (remote: string, forwarded?: string, proxies: readonly string[] = []): string => {
  return addressReader(proxies)(new Headers(forwarded === undefined ? {} : { "x-forwarded-for": forwarded }), remote);
};

Deno.test("addressReader() believes nobody but a known proxy, and of its list only what proxies have added", () => {
  assert.equal(from("192.0.2.1", "198.51.100.7"), "192.0.2.1");
  assert.equal(from("192.0.2.1", "198.51.100.7", ["192.0.2.1"]), "198.51.100.7");
  assert.equal(from("192.0.2.1", "6.6.6.6, 198.51.100.7", ["192.0.2.1"]), "198.51.100.7", "the first one is invented");
  assert.equal(from("192.0.2.1", "6.6.6.6, 198.51.100.7, 192.0.2.2", ["192.0.2.1", "192.0.2.2"]), "198.51.100.7");
  assert.equal(from("192.0.2.1", "<script>", ["192.0.2.1"]), "192.0.2.1");
  assert.equal(from("::ffff:192.0.2.1", "198.51.100.7", ["192.0.2.1"]), "198.51.100.7");
});

Deno.test("addressReader() knows proxies by their networks too", () => {
  const networks = ["10.0.0.0/8", "fd00::/8"];
  assert.equal(from("10.20.30.40", "198.51.100.7", networks), "198.51.100.7");
  assert.equal(from("::ffff:10.20.30.40", "198.51.100.7", networks), "198.51.100.7");
  assert.equal(from("fd00::5", "6.6.6.6, 198.51.100.7, 10.0.0.9", networks), "198.51.100.7");
  assert.equal(from("11.0.0.1", "198.51.100.7", networks), "11.0.0.1");
  assert.equal(from("unix", "198.51.100.7", networks), "unix");
});

Deno.test("addressReader() takes a network of IPv6 for one", () => {
  assert.equal(from("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  assert.equal(from("2001:db8:1:2::1"), from("2001:DB8:1:2:ffff::9"));
  assert.notEqual(from("2001:db8:1:2::1"), from("2001:db8:1:3::1"));
  assert.equal(from("::1"), "0:0:0:0::/64");
});
