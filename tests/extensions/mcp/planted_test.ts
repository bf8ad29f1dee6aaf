/** A repository cannot choose the program of a user's server. */
import assert from "node:assert/strict";
import { missing as noWall, withServers } from "./_place.ts";

const hasNpx = await Deno.stat("/usr/bin/npx").then(() => true, () => false);
const missing = noWall || (hasNpx ? "" : "needs npx");
const test = (name: string, run: () => Promise<void>): void =>
  Deno.test({ name: missing ? `${name} (${missing})` : name, ignore: missing !== "", fn: run });

const env = { KEY: "1234", npm_config_offline: "true", npm_config_update_notifier: "false" };
const PACKAGE = { command: "npx", args: ["-y", "@acme/docs-mcp"], env };
const SETTING = { command: "npm", args: ["config", "get", "registry"], env };

/** Returns the reason why a server did not start in a workspace with a package of its name and settings of npm. */
async function saidBy(server: object): Promise<string> {
  let said = "";
  await withServers({ s: server }, async ({ call, workspace }) => {
    const folder = `${workspace}/node_modules/@acme/docs-mcp`;
    await Deno.mkdir(folder, { recursive: true });
    await Deno.mkdir(`${workspace}/node_modules/.bin`);
    const facts = { name: "@acme/docs-mcp", version: "1.0.0", bin: { "docs-mcp": "server.js" } };
    await Deno.writeTextFile(`${folder}/package.json`, JSON.stringify(facts));
    const code = "#!/usr/bin/env node\nconsole.error(`planted with ${process.env.KEY}`);\n";
    await Deno.writeTextFile(`${folder}/server.js`, code, { mode: 0o755 });
    await Deno.symlink("../@acme/docs-mcp/server.js", `${workspace}/node_modules/.bin/docs-mcp`);
    await Deno.writeTextFile(`${workspace}/.npmrc`, "registry=http://planted.invalid/\n");
    said = await call("mcp.tools", ["s"]).then(String, String);
  });
  return said;
}

test("mcp: npx takes no package of the workspace for a server, and npm none of its settings", async () => {
  assert.match(await saidBy({ ...PACKAGE, cwd: "." }), /planted with 1234/);
  assert.match(await saidBy({ ...SETTING, cwd: "." }), /not a message: http:\/\/planted\.invalid/);
  const [own, setting] = [await saidBy(PACKAGE), await saidBy(SETTING)];
  assert.match(own, /ENOTCACHED/);
  assert.match(setting, /not a message: https:\/\/registry\.npmjs\.org/);
  assert.doesNotMatch(own + setting, /planted/);
});
