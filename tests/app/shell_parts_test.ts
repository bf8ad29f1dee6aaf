import assert from "node:assert/strict";
import { shipped } from "../../extensions/index.ts";
import { shellParts } from "../../src/app/shell_parts.ts";
import { DEFAULT_CONFIG } from "../../src/config/defaults.ts";

Deno.test("shellParts() leaves the shell out unless the configuration asks for it", () => {
  const names = (change: object): string[] =>
    Object.keys(shellParts({ config: { ...DEFAULT_CONFIG, ...change } }, { shipped }).parts.shipped);
  assert.ok(!names({}).includes("shell"));
  assert.ok(names({}).includes("fs"));
  assert.ok(names({ shell: { ...DEFAULT_CONFIG.shell, enabled: true } }).includes("shell"));
  assert.ok(names({ extensions: { ...DEFAULT_CONFIG.extensions, allow: ["vis.shell"] } }).includes("shell"));
});

Deno.test("shellParts() hands the rules of commands to the extension", () => {
  const shell = { ...DEFAULT_CONFIG.shell, enabled: true, deny: ["rm *"] };
  const { settings } = shellParts({ config: { ...DEFAULT_CONFIG, shell } }, { shipped });
  assert.deepEqual(settings.config.extensions.config, { "vis.shell": { allow: [], deny: ["rm *"] } });
});
