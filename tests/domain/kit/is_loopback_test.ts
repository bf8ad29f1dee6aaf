import assert from "node:assert/strict";
import { isLoopback } from "../../../src/domain/kit/is_loopback.ts";

Deno.test("isLoopback() knows the addresses that only this machine reaches", () => {
  for (const host of ["localhost", "127.0.0.1", "127.8.9.10", "127.1", "::1", "[::1]"]) {
    assert.ok(isLoopback(host), host);
  }
  for (const host of ["0.0.0.0", "::", "192.168.1.7", "127.example.com", "localhost.example", "::10"]) {
    assert.ok(!isLoopback(host), host);
  }
});
