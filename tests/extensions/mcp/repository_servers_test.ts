import assert from "node:assert/strict";
import { join } from "node:path";
import { diagnoseServers } from "../../../extensions/mcp/check_servers.ts";
import { type RepositoryServers, repositoryServers } from "../../../extensions/mcp/repository_servers.ts";
import { VIEW } from "../../extension/_sample.ts";
import { withFolder } from "../../helpers/with_folder.ts";
import { missing, ownServer, type Place, withServers } from "./_place.ts";

const YES = { allowed: true, reason: "" };
const test = (name: string, run: () => Promise<void>): void =>
  Deno.test({ name: missing ? `${name} (${missing})` : name, ignore: missing !== "", fn: run });

const described = (...args: readonly string[]): object => ({
  command: Deno.execPath(),
  args: ["run", "-A", "--quiet", "--no-config", "--no-lock", "--no-prompt", "server.js", "old", ...args],
  env: { DENO_NO_UPDATE_CHECK: "1" },
});

async function bring({ workspace }: Place, mcpServers: Readonly<Record<string, object>>): Promise<void> {
  await Deno.copyFile(ownServer("faulty.js"), join(workspace, "server.js"));
  await Deno.writeTextFile(join(workspace, ".mcp.json"), JSON.stringify({ mcpServers }));
}

test("mcp: servers of .mcp.json are used once the user allows them; a file that changes is asked about again", async () => {
  await withServers({}, async (place) => {
    await bring(place, { db: described(), docs: { type: "http", url: "https://docs.example/mcp" } });
    const { call, approvals } = place;
    approvals.answer = YES;
    assert.deepEqual(await call("mcp.servers"), [
      { name: "db", alias: "db", state: "stopped" },
      { name: "docs", alias: "docs", state: "stopped" },
    ]);
    assert.equal(approvals.asked.length, 0, "names alone need no answer");
    assert.match(String(await call("mcp.call", ["db", "run"])), /run of \d+/);
    await call("mcp.tools", ["db"]);
    const [asked, ...others] = approvals.asked;
    assert.equal(others.length, 0);
    assert.match(
      `${asked?.what}: ${asked?.exact}`,
      /^use the MCP servers of \.mcp\.json: db \(with DENO_NO_UPDATE_CHECK=1: .* server\.js old\); docs \(https:/,
    );
    assert.match(asked?.why ?? "", /^The repository brings them\. Their programs have access to the network/);
    assert.match(asked?.scope ?? "", /^the MCP servers of \.mcp\.json with the content [0-9a-f]{32}$/);
    await bring(place, { db: described("more") });
    approvals.answer = { allowed: false, reason: "the user said no" };
    await assert.rejects(call("mcp.tools", ["db"]), /db: it comes from \.mcp\.json, and the user said no/);
    assert.equal(approvals.asked.length, 2);
    assert.notEqual(approvals.asked[1]?.scope, asked?.scope);
  });
});

test("mcp: servers of .mcp.json are not used without a user to ask, and the user learns it once", async () => {
  await withServers({}, async (place) => {
    await bring(place, { db: described() });
    const active = await place.begin();
    for (const _ of [1, 2]) {
      await assert.rejects(place.call("mcp.tools", ["db"]), /it comes from \.mcp\.json, and no user can answer here/);
    }
    assert.deepEqual(active.faults?.().map(({ error }) => (error as Error).message), [
      "Vis did not use the MCP servers of .mcp.json (db): no user can answer here",
    ]);
  });
});

test("mcp: another tenant, and a place without programs, knows no servers of .mcp.json", async () => {
  for (const more of [{ tenant: "lab" }, { spawn: undefined }] as unknown as readonly Partial<typeof VIEW>[]) {
    await withServers({}, async (place) => {
      await bring(place, { db: described() });
      assert.deepEqual((await place.begin()).functions.filter((name) => name.startsWith("mcp.")), []);
    }, { more });
  }
});

test("mcp: a server of the settings stays the server of its name", async () => {
  await withServers({ db: { url: "https://own.example/mcp" } }, async (place) => {
    await bring(place, { db: described(), other: described() });
    const found = await repositoryServers({ ...place.env, config: place.settings });
    assert.deepEqual(found?.names, ["other"]);
    assert.doesNotMatch(found?.question.exact ?? "", /\bdb\b/);
  });
});

async function found(content: string, variables = {}): Promise<RepositoryServers | null> {
  const workspace = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(join(workspace, ".mcp.json"), content);
    return await repositoryServers({ ...VIEW, workspace, config: { variables } });
  } finally {
    await Deno.remove(workspace, { recursive: true });
  }
}

Deno.test("repositoryServers() fills in only variables that the user names, and shows their names alone", async () => {
  const servers = {
    a: { command: "${BIN:-./a}", args: ["--url", "${DB_URL}", "${workspace}/a"], env: { HOME_DIR: "${HOME:-none}" } },
    b: { url: "https://b.example/${ROOM:-main}", headers: { authorization: "Bearer ${OPENAI_API_KEY}" } },
  };
  const read = await found(JSON.stringify({ mcpServers: servers }), { DB_URL: "db://secret", UNSET: "${UNSET}" });
  assert.deepEqual(read?.servers.get("a"), {
    ...{
      command: "./a",
      args: ["--url", "db://secret", "${workspace}/a"],
      env: { HOME_DIR: "none" },
      cwd: ".",
      network: true,
    },
    ...{ read: [], write: [], destructive: false, disabled: false, timeoutMs: 60_000, startMs: 30_000 },
  });
  const { exact = "", why = "" } = read?.question ?? {};
  assert.match(
    exact,
    /a \(with HOME_DIR='\$\{HOME:-none\}': '\$\{BIN:-\.\/a\}' --url '\$\{DB_URL\}' '\$\{workspace\}\/a'\)/,
  );
  assert.match(why, /they get your variables DB_URL\.$/);
  assert.doesNotMatch(exact + why, /secret/);
  assert.match(
    read?.faults.get("b") ?? "",
    /^it requires a value of the variable OPENAI_API_KEY; set OPENAI_API_KEY in the environment of Vis, and allow its use with vis config set .*\.variables\.OPENAI_API_KEY '\$\{OPENAI_API_KEY\}'$/,
  );
});

Deno.test("repositoryServers() gives the reason why a server or a file cannot be used", async () => {
  const servers: readonly (readonly [object, RegExp])[] = [
    [{}, /^it has neither a command nor a url$/],
    [{ type: "sse", url: "https://b.example/sse" }, /^Vis does not support its type sse; use http$/],
    [{ command: 5 }, /^command /],
    [{ url: "file:///etc/passwd" }, /^url /],
  ];
  for (const [server, why] of servers) {
    assert.match((await found(JSON.stringify({ mcpServers: { s: server } })))?.faults.get("s") ?? "", why);
  }
  for (const name of ["../x", "a".repeat(41)]) {
    const odd = await found(JSON.stringify({ mcpServers: { [name]: { command: "x" } } }));
    assert.match(odd?.faults.get(name) ?? "", /^its name must begin with a letter and have at most 40 letters/);
  }
  for (const [text, why] of [["{", /JSON/], ["[]", /^it /], [" ".repeat(70_000), /^it has 70000 bytes/]] as const) {
    assert.match((await found(text))?.faults.get("") ?? "", why);
  }
  await withFolder(async (workspace) => {
    await Deno.symlink("/etc/passwd", join(workspace, ".mcp.json"));
    const linked = await repositoryServers({ ...VIEW, workspace, config: {} });
    assert.equal(linked?.faults.get(""), "it is not a regular file");
    const [line] = await diagnoseServers({ config: {}, spawn: null, spawnInWorkspace: null, workspace, home: null });
    assert.deepEqual(line, {
      ...{
        name: "mcp: .mcp.json",
        state: "warn",
        found: "it is not a regular file",
        fix: `Correct ${workspace}/.mcp.json`,
      },
    });
    assert.equal(await repositoryServers({ ...VIEW, workspace: `${workspace}/none`, config: {} }), null);
  });
});
