import assert from "node:assert/strict";
import { posix, win32 } from "node:path";
import { isBelow } from "../../../extensions/shell/command.ts";

Deno.test("isBelow() goes by the paths of each system", () => {
  for (const path of ["/w", "/w/a", "/w/..a", "/w/a/../b"]) assert.ok(isBelow("/w", path, posix), path);
  for (const path of ["/", "/w2", "/w/..", "/w/../x", "/other"]) assert.ok(!isBelow("/w", path, posix), path);
  const folder = "C:\\Users\\me";
  for (const path of [folder, "c:\\users\\ME\\a", "C:/Users/me/a"]) assert.ok(isBelow(folder, path, win32), path);
  for (const path of ["C:\\Users", "D:\\Users\\me\\a", "C:\\Users\\me2"]) assert.ok(!isBelow(folder, path, win32), path);
});
