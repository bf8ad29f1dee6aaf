import assert from "node:assert/strict";
import { clientAddress } from "../../../../src/channels/http/auth/client_address.ts";

const from = (remote: string, forwarded?: string, proxies: readonly string[] = []): string => {
  return clientAddress(new Headers(forwarded === undefined ? {} : { "x-forwarded-for": forwarded }), {
    remote,
    proxies,
  });
};

Deno.test("clientAddress() believes nobody but a known proxy, and of its list only what proxies have added", () => {
  assert.equal(from("192.0.2.1", "198.51.100.7"), "192.0.2.1");
  assert.equal(from("192.0.2.1", "198.51.100.7", ["192.0.2.1"]), "198.51.100.7");
  assert.equal(from("192.0.2.1", "6.6.6.6, 198.51.100.7", ["192.0.2.1"]), "198.51.100.7", "the first one is invented");
  assert.equal(from("192.0.2.1", "6.6.6.6, 198.51.100.7, 192.0.2.2", ["192.0.2.1", "192.0.2.2"]), "198.51.100.7");
  assert.equal(from("192.0.2.1", "<script>", ["192.0.2.1"]), "192.0.2.1");
  assert.equal(from("::ffff:192.0.2.1", "198.51.100.7", ["192.0.2.1"]), "198.51.100.7");
});

Deno.test("clientAddress() takes a network of IPv6 for one", () => {
  assert.equal(from("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  assert.equal(from("2001:db8:1:2::1"), from("2001:DB8:1:2:ffff::9"));
  assert.notEqual(from("2001:db8:1:2::1"), from("2001:db8:1:3::1"));
  assert.equal(from("::1"), "0:0:0:0::/64");
});
