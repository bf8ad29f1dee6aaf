import assert from "node:assert/strict";
import { addressHint, programHint } from "../../../extensions/mcp/connect.ts";

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
