/** This module prints the milliseconds that the shipped extensions add to a launch and to the opening of a
 * conversation. The argument is the workspace. */
import { extensionSource } from "../../src/app/extensions/extension_source.ts";
import { DEFAULT_CONFIG } from "../../src/config/defaults.ts";

const [workspace = ""] = Deno.args;
const view = { envId: "e", conversationId: "c", branchId: "b", depth: 0, workspace };
const settings = { config: DEFAULT_CONFIG, home: `${workspace}/home`, workspace };
const start = performance.now();
const [{ shipped }, { realm }] = await Promise.all([
  import("../../extensions/index.ts"),
  import("../../extensions/realm.ts"),
]);
const { source } = await extensionSource(settings, { shipped, realm });
const launched = performance.now();
const active = await source.activate(view);
const opened = performance.now();
const sizes = new TextEncoder().encode(active.blocks.join("\n\n")).length;
console.log(JSON.stringify({ launch: launched - start, open: opened - launched, bytes: sizes }));
Deno.exit(0);
