import assert from "node:assert/strict";
import { isSecureUrl } from "../../../src/domain/kit/is_secure_url.ts";

Deno.test("isSecureUrl() https everywhere, and http on this machine", () => {
  for (const good of ["https://a.example/x", "http://127.0.0.1:8080/x", "http://localhost", "http://[::1]:1/"]) {
    assert.ok(isSecureUrl(good), good);
  }
  for (const bad of ["", "a.example", "http://a.example", "http://localhost.example", "file:///x", "ftp://localhost"]) {
    assert.ok(!isSecureUrl(bad), bad);
  }
});
