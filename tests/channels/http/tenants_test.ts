import { check } from "./_tenants_attacks.ts";

Deno.test("no route, key, stream or function of an extension reaches another tenant, in SQLite", () =>
  check(":memory:"));
