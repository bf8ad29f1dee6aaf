import assert from "node:assert/strict";
import { failureText } from "../../../extensions/mcp/stdio_transport.ts";
import { withFolder } from "../../helpers/with_folder.ts";
import { join } from "node:path";
import { addressHint, hiddenFileHint, programHint } from "../../../extensions/mcp/connect.ts";

Deno.test("programHint() names the setting that a stopped program probably lacks", () => {
  const closed = { network: false, write: [] };
  const cases: readonly (readonly [string, Parameters<typeof programHint>[1], RegExp])[] = [
    ["npm error code EAI_AGAIN registry.example.org", closed, /no network, so set network to true/],
    ["fetch failed: getaddrinfo ENOTFOUND api.example", closed, /no network/],
    ["getaddrinfo ENOTFOUND api.example", { ...closed, network: true }, /^$/],
    ["Error: EACCES: permission denied, mkdir '/srv/notes'", closed, /settings write, for its changes, or read$/],
    ["open /opt/data: Permission denied", { ...closed, write: ["notes"] }, /settings read, for its other files$/],
    ["SyntaxError: Unexpected token", closed, /^$/],
    [
      "Error: Cannot find module '/tmp/vis-command-1-a/server.js'",
      closed,
      /started outside the workspace, so set cwd to "\."/,
    ],
    ["Error: Cannot find module './server.js'", { ...closed, cwd: "." }, /^$/],
  ];
  for (const [said, config, wanted] of cases) assert.match(programHint(said, config), wanted, said);
});

Deno.test("addressHint() distinguishes missing tokens and older transports by the status", () => {
  const none = { headers: {} };
  assert.match(addressHint("hub", 401, none), /vis auth login hub, .*"Authorization: Bearer \$\{auth:hub\}"$/);
  assert.match(
    addressHint("hub", 403, { headers: { authorization: "Bearer x" } }),
    /with status 403, so check the token/,
  );
  assert.match(
    addressHint("hub", 405, none),
    /^use the address of the server for streamable HTTP, for example an address that ends with \/mcp, because Vis does not support/,
  );
  assert.equal(addressHint("hub", 500, none), "");
});

Deno.test("failureText() begins with the line that names the error, and omits the stack", () => {
  const node = [
    ...["node:internal/modules/cjs/loader:1210", "  throw err;", "  ^", ""],
    ...["Error: Cannot find module '/srv/mcp/index.js'", "    at Module._resolveFilename (node:internal:1207:15)"],
    ...[
      "    at node:internal/main/run_main_module:23:47 {",
      "  code: 'MODULE_NOT_FOUND',",
      "  requireStack: []",
      "}",
      "",
    ],
    ...["Node.js v20.20.2", ""],
  ].join("\n");
  assert.match(failureText(node), /^Error: Cannot find module '\/srv\/mcp\/index\.js'\n {2}code: /);
  const python = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nKeyError: 1\n\nDuring it:\n' +
    'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\nModuleNotFoundError: No module named mcp\n';
  assert.equal(failureText(python), "ModuleNotFoundError: No module named mcp");
  assert.equal(failureText("1\n2\n3\n4\n5\n6\n"), "2\n3\n4\n5\n6");
  assert.equal(failureText(""), "");
});

Deno.test("hiddenFileHint() names the folder of a file that exists and that the server did not find", async () => {
  await withFolder(async (root) => {
    const at = (path: string): string => join(root, path);
    for (const folder of ["mcp/dist", "plain"]) await Deno.mkdir(at(folder), { recursive: true });
    for (const path of ["mcp/dist/a.js", "mcp/package.json", "plain/b.py"]) await Deno.writeTextFile(at(path), "{}");
    const hint = (
      said: string,
      args: readonly string[],
      more: Partial<Parameters<typeof hiddenFileHint>[1]> = {},
    ): string =>
      hiddenFileHint(said, { command: "node", args: [...args], read: [], write: [], ...more }, {
        workspace: at("workspace"),
        home: at("plain"),
      });
    const module = at("mcp/dist/a.js"), script = at("plain/b.py");
    const lost = `Error: Cannot find module '${module}'`;
    assert.ok(hint(lost, [module]).includes(`hides ${module}, so allow ${at("mcp")} with`));
    const missing = `python3: can't open file '${script}': [Errno 2] No such file or directory`;
    assert.ok(hint(missing, [`--run=${script}`]).includes(`so allow ${script} with`));
    assert.ok(hint(`Vis cannot run ${script}: the program does not exist`, [], { command: script }) !== "");
    assert.equal(hint(lost, [module], { read: [at("mcp")] }), "");
    assert.equal(hint("Error: Cannot find module 'a'", [module]), "");
    assert.equal(hint(`Error: Cannot find module '${at("mcp/no.js")}'`, [at("mcp/no.js")]), "");
    assert.equal(
      hiddenFileHint(lost, { command: "node", args: [module], read: [], write: [] }, { workspace: at("mcp") }),
      "",
    );
  });
});
