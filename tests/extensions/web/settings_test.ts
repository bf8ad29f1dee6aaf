import assert from "node:assert/strict";
import settings from "../../../extensions/web/settings.ts";

Deno.test("web.hosts accepts only hosts, and web.local only hosts with their ports", () => {
  const ok = (web: object): boolean => settings.safeParse(web).success;
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
