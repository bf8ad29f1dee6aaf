import assert from "node:assert/strict";
import { win32 } from "node:path";
import { childEnvironment } from "../../../src/sandbox/launch.ts";

Deno.test("childEnvironment() has the variables that a system needs, and no cache", () => {
  const { DENO_DIR: unix, ...rest } = childEnvironment("linux");
  assert.deepEqual([unix, childEnvironment("darwin")["DENO_DIR"]], ["/dev/null/deno", "/dev/null/deno"]);
  const { DENO_DIR: windows = "", SystemRoot, ...others } = childEnvironment("windows");
  assert.deepEqual(others, rest);
  assert.equal(SystemRoot, "C:\\Windows");
  assert.ok(win32.isAbsolute(windows), "not below the current folder");
  assert.match(windows, /^\\\\\.\\NUL\\/);
});
