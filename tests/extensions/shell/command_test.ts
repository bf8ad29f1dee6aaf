import assert from "node:assert/strict";
import { posix, win32 } from "node:path";
import { isInside } from "../../../extensions/shell/run.ts";

Deno.test("isInside() goes by the paths of each system", () => {
  for (const path of ["/w", "/w/a", "/w/..a", "/w/a/../b"]) assert.ok(isInside("/w", path, posix), path);
  for (const path of ["/", "/w2", "/w/..", "/w/../x", "/other"]) assert.ok(!isInside("/w", path, posix), path);
  const folder = "C:\\Users\\me";
  for (const path of [folder, "c:\\users\\ME\\a", "C:/Users/me/a"]) assert.ok(isInside(folder, path, win32), path);
  for (const path of ["C:\\Users", "D:\\Users\\me\\a", "C:\\Users\\me2"]) {
    assert.ok(!isInside(folder, path, win32), path);
  }
});
