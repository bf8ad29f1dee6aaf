import { newId, TENANT_NAME, tenantHome } from "../../../src/domain/kit/ids.ts";
import assert from "node:assert/strict";

Deno.test("newId() gives UUIDs that sort by time and never repeat", () => {
  const ids = Array.from({ length: 5000 }, newId);
  assert.equal(new Set(ids).size, ids.length);
  assert.deepEqual(ids.toSorted(), ids);
  assert.match(ids[0] ?? "", /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

Deno.test("tenantHome() is a folder for each tenant, on every file system; nothing changes without one", () => {
  assert.deepEqual(["default", undefined].map((tenant) => tenantHome("/home/vis", tenant)), ["/home/vis", "/home/vis"]);
  assert.deepEqual([tenantHome(null, "ana"), tenantHome(undefined, "ana")], [null, undefined]);
  assert.equal(tenantHome("/home/vis", "ana@lab"), "/home/vis/tenants/ana@lab");
  assert.equal(tenantHome("/home/vis", "Ana"), "/home/vis/tenants/+ana");
});

Deno.test("TENANT_NAME has no name that leads out of its folder, or means all", () => {
  for (const name of ["", "*", ".", "..", "../x", "a/b", "a\\b", "a ", " a", "a.", "-a", "+ana", "a\nb", "a\0b", "é"]) {
    assert.doesNotMatch(name, TENANT_NAME, JSON.stringify(name));
  }
  for (const name of ["a", "default", "ana-team", "org_2aB.x@y", "0".repeat(64)]) assert.match(name, TENANT_NAME);
});
