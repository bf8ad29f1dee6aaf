import assert from "node:assert/strict";
import { TENANT_NAME } from "../../../src/domain/records/tenant.ts";
import { tenantHome } from "../../../src/domain/records/tenant_home.ts";

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
