/** Runs hostile blocks against the shipped functions of the workspace: `deno run -A hostile_calls_main.ts WORKSPACE`.
 * After each one it asks the same process an ordinary question. Prints one line for each block; ending early is what a
 * block must not achieve. */
import fs from "../../extensions/fs/mod.ts";
import memo from "../../extensions/memo/mod.ts";
import shell from "../../extensions/shell/mod.ts";
import type { EnvironmentView } from "../../src/extension/spec.ts";
import { ExtensionRegistry } from "../../src/extension/registry/registry.ts";
import { openWall } from "../helpers/open_wall.ts";
import { testSandbox } from "../helpers/sandbox.ts";
import { HOSTILE_BLOCKS } from "./hostile_blocks.ts";

const [workspace = ""] = Deno.args;
const quiet = () => {};
const registry = new ExtensionRegistry({
  log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  config: { "vis.shell": { enabled: true } },
});
for (const extension of [fs, memo, shell]) registry.register(extension);
const wall = openWall();
const base: EnvironmentView = {
  envId: "e", conversationId: "c", branchId: "b", depth: 0, workspace, maxIterations: 4,
  ...(wall ? { spawn: (argv, options = {}) => wall.spawn(workspace, argv, options) } : {}),
};
