import assert from "node:assert/strict";
import { installedBy } from "../../../src/app/update/update.ts";

Deno.test("installedBy() knows package managers by the path", () => {
  const by = (path: string, container = false) => installedBy(path, { container })?.by;
  assert.equal(by("/usr/lib/node_modules/vis-agent-linux-x64/vis"), "npm");
  assert.equal(by(String.raw`C:\npm\node_modules\vis-agent-win32-x64\vis.exe`), "npm");
  assert.equal(by("/opt/homebrew/Cellar/vis-agent/1.2.0/bin/vis"), "Homebrew");
  assert.equal(by("/usr/bin/vis"), "a package");
  assert.equal(by("/usr/local/bin/vis", true), "a container image");
  assert.equal(by("/usr/local/bin/vis"), undefined);
  assert.equal(by("/home/user/.local/bin/vis", true), undefined);
});
