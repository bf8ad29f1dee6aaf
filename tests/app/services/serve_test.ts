import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import * as extensions from "../../../extensions/index.ts";
import { type Telemetry, Tracer } from "../../../src/app/otel/telemetry.ts";
import { checkServer } from "../../../src/app/services/check_server.ts";
import { serve } from "../../../src/app/services/serve.ts";
import { ConfigTrust } from "../../../src/app/settings/settings_files.ts";
import { until } from "../../helpers/until.ts";
import type { RunningServer, ServeRequest } from "../../../src/channels/channel.ts";

const TOKEN = "test-token-0123456789";
const version = { vis: "1.2.3", deno: "", v8: "", compiled: false, target: "" };

interface Place extends AsyncDisposable {
  readonly workspace: string;
  readonly home: string;
  serve(request?: ServeRequest, env?: Readonly<Record<string, string>>): Promise<RunningServer>;
}

async function place(config: object = {}): Promise<Place> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "vis-serve-" }));
  const [workspace, home] = [join(folder, "work"), join(folder, "home")];
  await Deno.mkdir(join(workspace, ".vis"), { recursive: true });
  await Deno.mkdir(home);
  await Deno.writeTextFile(join(home, "config.jsonc"), JSON.stringify({ localServers: false, ...config }));
  return {
    workspace,
    home,
    serve: (request = {}, env = {}) =>
      serve({ cwd: workspace, db: ":memory:", provider: "demo", port: 0, token: TOKEN, ...request }, {
        env: { VIS_HOME: home, HOME: folder, ...env },
        version,
        ...extensions,
      }),
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

async function read(server: RunningServer, path: string, token = TOKEN) {
  const response = await fetch(new URL(path, server.url), { headers: { authorization: `Bearer ${token}` } });
  return { status: response.status, value: await response.json() };
}

async function prompt(server: RunningServer): Promise<string> {
  const response = await fetch(new URL("/api/v1/prompt", server.url), {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify({ request: "x" }),
  });
  return await response.text();
}

Deno.test("checkServer() finds a server by the settings or the flags, and explains why none runs", async () => {
  await using at = await place();
  const check = (request: ServeRequest) =>
    checkServer({ cwd: at.workspace, ...request }, { env: { VIS_HOME: at.home, HOME: at.home }, ...extensions });
  const server = await at.serve({ host: "0.0.0.0" });
  const port = Number(new URL(server.url).port);
  assert.equal(server.url, `http://localhost:${port}/`);
  assert.equal((await read(server, "/api/v1")).status, 200, "the server accepts its own address");
  assert.deepEqual(await check({ port }), { url: `http://127.0.0.1:${port}/`, problem: "" });
  assert.deepEqual(await check({ port, host: "0.0.0.0" }), { url: `http://localhost:${port}/`, problem: "" });
  await server.close();
  assert.deepEqual(await check({ port }), { url: `http://127.0.0.1:${port}/`, problem: "no server responds there" });
  await using foreign = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, () => {
    return new Response(null, { status: 503 });
  });
  assert.equal((await check({ port: foreign.addr.port })).problem, "it responded with status 503");
});

Deno.test("serve() the locked profile loads listed extensions, reads no settings of the project and offers no commands", async () => {
  await using at = await place({ extensions: { allow: ["vis.fs", "vis.shell", "vis.fss"] }, shell: { enabled: true } });
  await Deno.writeTextFile(join(at.workspace, ".vis", "config.jsonc"), '{ "budget": { "costUsd": 1e9 } }');
  await assert.rejects(at.serve(), /budget\.costUsd/, "the project's file counts elsewhere");
  const server = await at.serve({ profile: "locked" });
  try {
    const { items } = (await read(server, "/api/v1/extensions")).value;
    const stateOf = ({ name, state, reason }: { name: string; state: string; reason: string }) =>
      [name, state, reason].join();
    const states: readonly string[] = items.map(stateOf);
    assert.deepEqual(states.filter((one) => one.includes("loaded")), ["vis.fs,loaded,"]);
    assert.ok(states.includes("vis.shell,off,it is never in the locked profile"), states.join("\n"));
    assert.ok(states.includes("vis.git,off,it is never in the locked profile"), states.join("\n"));
    const text = await prompt(server);
    assert.match(text, /fs\.readFile/);
    assert.doesNotMatch(text, /fs\.(edit|writeFile)\(|shell\.run/);
    assert.match(
      server.notes.join("\n"),
      /locked: all walls active, .*extensions: fs; left out: vis\.fss: no extension has this name; did you mean vis\.fs\?; vis\.shell: never in the locked profile$/m,
    );
  } finally {
    await server.close();
  }
});

Deno.test("serve() the locked profile: a block writes no file", async () => {
  await using at = await place({ extensions: { allow: ["fs"] } });
  const path = join(at.workspace, "src", "discount.ts");
  await Deno.mkdir(join(at.workspace, "src"));
  for (const writable of [false, true]) {
    await Deno.writeTextFile(path, "export const rate = 0.9;\n");
    const server = await at.serve({ profile: "locked", writable });
    const response = await fetch(new URL("/v1/responses", server.url), {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ input: "In src/discount.ts the rate must be 0.85 instead of 0.9" }),
    });
    const text = await response.text();
    await server.close();
    assert.equal(await Deno.readTextFile(path), `export const rate = ${writable ? "0.85" : "0.9"};\n`, text);
    if (!writable) assert.match(text, /fs\.edit is not a function/);
  }
});

Deno.test("serve() the locked profile lets extensions write where that is said, and loads none where none is listed", async () => {
  await using at = await place();
  const writable = await at.serve({ profile: "locked", writable: true });
  const { items } = (await read(writable, "/api/v1/extensions")).value;
  assert.ok(items.every(({ state }: { state: string }) => state === "off"));
  await writable.close();
  assert.match(writable.notes.join("\n"), /extensions: none \(extensions\.allow lists none\)$/m);
  await Deno.writeTextFile(join(at.home, "config.jsonc"), '{ "extensions": { "allow": ["shell"] } }');
  const refused = await at.serve({ profile: "locked" });
  assert.match(refused.notes.join("\n"), /extensions: none; left out: shell: never in the locked profile$/m);
  await refused.close();
  await Deno.writeTextFile(join(at.home, "config.jsonc"), '{ "extensions": { "allow": ["fs"] } }');
  const server = await at.serve({ writable: true }, { VIS_PROFILE: "locked" });
  assert.match(await prompt(server), /fs\.edit\(/);
  await server.close();
});

Deno.test("serve() the locked profile does not begin where a wall does not hold, and makes no database then", async () => {
  const child = join(import.meta.dirname ?? "", "unwalled_child.ts");
  await using at = await place({
    sandbox: { launcher: [Deno.execPath(), "run", "--quiet", "--no-config", "--no-lock", child] },
  });
  const db = join(at.home, "x.db");
  await assert.rejects(at.serve({ profile: "locked", db }), {
    name: "ConfigError",
    message: /the required wall kernel is not active \(this kernel has no Landlock\); vis doctor/,
  });
  await assert.rejects(Deno.stat(db), Deno.errors.NotFound);
  await (await at.serve({ db })).close();
});

Deno.test("serve() closes its traces where it cannot start, once, and with the session where it did", async () => {
  await using at = await place();
  const closed = { times: 0 };
  const telemetry: Telemetry = {
    tracer: new Tracer({ finish: () => {}, now: () => 0, ratio: 1, followsParent: true }),
    within: (_request, work) => work(() => {}),
    close: () => Promise.resolve(void closed.times++),
  };
  const start = (request: ServeRequest): Promise<RunningServer> =>
    serve({ cwd: at.workspace, db: ":memory:", provider: "demo", port: 0, token: TOKEN, ...request }, {
      ...{ env: { VIS_HOME: at.home }, version, ...extensions, telemetry },
    });
  await assert.rejects(start({ provider: "nobody" }), { name: "ConfigError" });
  assert.equal(closed.times, 1, "no session was opened");
  const server = await start({});
  assert.equal(closed.times, 1);
  await assert.rejects(start({ port: Number(new URL(server.url).port) }));
  assert.equal(closed.times, 2, "its port was taken");
  await server.close();
  assert.equal(closed.times, 3);
});

Deno.test("serve() knows its profiles", async () => {
  await using at = await place();
  await assert.rejects(
    at.serve({ profile: "safe" }),
    /^UsageError: Cannot use profile safe: Vis has no such profile; choose open or locked$/,
  );
  await assert.rejects(at.serve({ writable: true }), /^UsageError: Cannot use --writable/);
  await assert.rejects(at.serve({}, { VIS_PROFILE: "x" }), { name: "UsageError" });
});

Deno.test("serve() a restart does not renew the day of a token", async () => {
  await using at = await place({ server: { quota: { queriesPerDay: 1 } } });
  const db = join(at.home, "x.db");
  const ask = async (): Promise<number> => {
    const server = await at.serve({ db });
    const response = await fetch(new URL("/v1/responses", server.url), {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ input: "x" }),
    });
    await response.text();
    await server.close();
    return response.status;
  };
  assert.deepEqual([await ask(), await ask()], [200, 429]);
});

Deno.test("serve() a list of tokens replaces the single one", async () => {
  await using at = await place();
  const tokens = join(at.home, "tokens.jsonc");
  const entry = { name: "reader", token: "reader-token-0123456789", scope: "read" };
  await Deno.writeTextFile(tokens, JSON.stringify({ tokens: [entry] }), { mode: 0o644 });
  await assert.rejects(at.serve({ tokens }), /Cannot use --tokens with --token/);
  const request: ServeRequest = { tokens, token: undefined };
  const server = await at.serve(request, { VIS_TOKEN: TOKEN });
  try {
    assert.equal(server.token, null);
    assert.equal((await read(server, "/api/v1")).status, 401, "VIS_TOKEN does not count");
    assert.equal((await read(server, "/api/v1", entry.token)).status, 200);
    assert.match(server.notes.join("\n"), /other users have access to [\s\S]*Vis ignores VIS_TOKEN/);
    assert.equal(server.tokenFrom, tokens);
  } finally {
    await server.close();
  }
});

Deno.test("serve() lists skills with the prompts, which precede them, and the skills of a tenant only for it", async () => {
  await using at = await place();
  const skill = async (home: string, name: string) => {
    await Deno.mkdir(join(home, "skills", name), { recursive: true });
    await Deno.writeTextFile(join(home, "skills", name, "SKILL.md"), `---\ndescription: Does ${name}\n---\n`);
  };
  await skill(join(at.workspace, ".vis"), "release");
  await skill(join(at.workspace, ".vis"), "tidy");
  await skill(at.home, "of-user");
  await skill(join(at.home, "tenants/acme"), "of-acme");
  await Deno.mkdir(join(at.workspace, ".vis/prompts"));
  await Deno.writeTextFile(join(at.workspace, ".vis/prompts/tidy.md"), "Tidy all");
  const tokens = join(at.home, "tokens.jsonc");
  const [own, other] = ["own-token-0123456789", "acme-token-0123456789"];
  const listed = [{ name: "own", token: own }, { name: "acme", token: other, tenant: "acme" }];
  await Deno.writeTextFile(tokens, JSON.stringify({ tokens: listed.map((one) => ({ ...one, scope: "write" })) }));
  const server = await at.serve({ tokens, token: undefined });
  const names = ["release", "tidy", "of-user", "of-acme"];
  const texts = async (token: string) => {
    const { items } = (await read(server, "/api/v1/prompts", token)).value;
    const found: readonly { name: string; description: string; text: string }[] = items;
    return found.filter(({ name }) => names.includes(name)).map((one) => Object.values(one).join(" | "));
  };
  try {
    const skillOf = (name: string) => `${name} | Does ${name} | Read the skill ${name}, and follow it.\n\n$ARGUMENTS`;
    assert.deepEqual(await texts(own), ["tidy | Tidy all | Tidy all", skillOf("of-user"), skillOf("release")]);
    assert.deepEqual(await texts(other), ["tidy | Tidy all | Tidy all", skillOf("of-acme"), skillOf("release")]);
  } finally {
    await server.close();
  }
});

Deno.test("serve() refuses tokens in a folder that requests can read", async () => {
  await using at = await place();
  const entry = { name: "reader", token: "reader-token-0123456789", scope: "read" };
  const tokens = join(at.workspace, "tokens.json");
  await Deno.writeTextFile(tokens, JSON.stringify({ tokens: [entry] }), { mode: 0o600 });
  const why =
    /Cannot use the tokens in .*: requests can read the files of .*work; move the token file out of this folder/;
  await assert.rejects(at.serve({ tokens, token: undefined }), why);
  const link = join(at.workspace, "..", "tokens.json");
  await Deno.symlink(tokens, link);
  await assert.rejects(at.serve({ tokens: link, token: undefined }), why);
  await assert.rejects(at.serve({ tokenFile: join(at.workspace, "token"), token: undefined }), why);
  await assert.rejects(Deno.lstat(join(at.workspace, "token")), Deno.errors.NotFound, "the new file is gone");
});

Deno.test("serve() refuses tokens in an added folder, and in the repository around the workspace", async () => {
  await using at = await place();
  const lib = join(at.workspace, "..", "lib"), cwd = join(at.workspace, "sub");
  for (const path of [lib, cwd, join(at.workspace, ".git")]) await Deno.mkdir(path);
  for (const path of [join(lib, "token"), join(at.workspace, "token"), join(at.workspace, ".git", "HEAD")]) {
    await Deno.writeTextFile(path, TOKEN);
  }
  const refused = (folder: string) =>
    new RegExp(`Cannot use the tokens in .*: requests can read the files of ${folder};`);
  const added = { tokenFile: join(lib, "token"), token: undefined };
  await assert.rejects(at.serve({ ...added, addDir: [lib] }), refused(lib));
  await (await at.serve(added)).close();
  const around = { tokenFile: join(at.workspace, "token"), token: undefined, cwd };
  await assert.rejects(at.serve(around), refused(at.workspace));
  await (await at.serve({ ...around, profile: "locked" })).close();
});

Deno.test("serve() refuses tokens in Vis's own folder below a workspace if their name does not hide them", async () => {
  await using at = await place({ server: { workspaces: ["FOLDER"] } });
  const config = join(at.home, "config.jsonc");
  await Deno.writeTextFile(config, (await Deno.readTextFile(config)).replace("FOLDER", join(at.home, "..")));
  const entry = { name: "reader", token: "reader-token-0123456789", scope: "read" };
  const [shown, hidden] = [join(at.home, "clients.json"), join(at.home, "tokens.json")];
  for (const path of [shown, hidden]) {
    await Deno.writeTextFile(path, JSON.stringify({ tokens: [entry] }), { mode: 0o600 });
  }
  await assert.rejects(at.serve({ tokens: shown, token: undefined }), /Cannot use the tokens in .*clients\.json/);
  await (await at.serve({ tokens: hidden, token: undefined })).close();
});

Deno.test("serve() hides its keys in each of its workspaces", { ignore: Deno.build.os === "windows" }, async () => {
  await using at = await place({ server: { workspaces: ["FOLDER", "HOME"] } });
  const folder = join(at.home, ".."), model = join(folder, "model"), key = "sk-kept-from-the-model";
  const config = join(at.home, "config.jsonc");
  const text = await Deno.readTextFile(config);
  await Deno.writeTextFile(config, text.replace("FOLDER", folder).replace("HOME", at.home));
  await Deno.writeTextFile(join(at.home, "auth.json"), JSON.stringify({ version: 1, providers: {}, key }));
  await Deno.writeTextFile(join(at.home, "x"), "plain");
  await new Deno.Command("git", { args: ["init", "-q", folder] }).output();
  const server = await at.serve({ provider: "files", model });
  const post = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    const response = await fetch(new URL(path, server.url), { method: "POST", headers, body: JSON.stringify(body) });
    return { status: response.status, value: await response.json() };
  };
  let request = 0;
  const next = (kind: string): string => join(model, `${String(request + 1).padStart(3, "0")}.${kind}.txt`);
  const reply = async (body: object) => {
    await until(() => existsSync(next("request")));
    await Deno.writeTextFile(next("reply"), JSON.stringify(body));
    request++;
  };
  try {
    for (
      const [workspace, path, plain] of [[folder, "home/auth.json", "home/x"], [at.home, "auth.json", "x"]] as const
    ) {
      const { status, value: { conversationId } } = await post("/api/v1/conversations", { workspace });
      assert.equal(status, 201);
      const calls = [
        `fs.readFile("${plain}")`,
        `fs.readFile("${path}")`,
        `shell.run("cat ${path}")`,
        `git.add("${path}")`,
        `fs.grep("sk-")`,
      ];
      const expr = `const said = []
for (const call of [${
        calls.map((call) => `async () => await ${call}`)
      }]) said.push(await call().then((it) => JSON.stringify(it), String))
said`;
      const asked = post(`/api/v1/conversations/${conversationId}/messages`, { request: "Read it" });
      await reply({ code: [{ expr }] });
      await reply({ final: { answer: "{{#said}}{{.}}\n{{/said}}" } });
      const { value: { answer } } = await asked;
      assert.doesNotMatch(answer, new RegExp(key));
      const [read, file, command, git] = answer.split("\n");
      assert.match(read, /plain/);
      assert.match(
        file,
        /Cannot read \S*auth\.json: Vis keeps its own keys in this file/,
      );
      assert.match(command, /shell is off; .*vis doctor shows the reason and the fix/);
      assert.match(git, /git is not defined/);
    }
  } finally {
    await server.close();
  }
});

Deno.test("a workspace sets hooks only for itself, and the user's own hooks run elsewhere", {
  ignore: Deno.build.os === "windows",
}, async () => {
  await using at = await place({ server: { workspaces: ["OTHER"] }, hooks: { request: ["touch users"] } });
  const other = join(at.workspace, "..", "other"), config = join(at.home, "config.jsonc");
  await Deno.mkdir(other);
  await Deno.writeTextFile(config, (await Deno.readTextFile(config)).replace("OTHER", other));
  const project = join(at.workspace, ".vis", "config.jsonc"), text = '{ "hooks": { "request": ["touch workspaces"] } }';
  await Deno.writeTextFile(project, text);
  await new ConfigTrust(at.home).add({ path: project, text });
  const server = await at.serve();
  try {
    for (const workspace of [at.workspace, other]) {
      const post = async (path: string, body: object) => {
        const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
        const response = await fetch(new URL(path, server.url), {
          method: "POST",
          headers,
          body: JSON.stringify(body),
        });
        return await response.json();
      };
      const { conversationId } = await post("/api/v1/conversations", { workspace });
      await post(`/api/v1/conversations/${conversationId}/messages`, { request: "hello" });
    }
    const made = [at.workspace, other].map((folder) =>
      ["users", "workspaces"].filter((name) => existsSync(join(folder, name)))
    );
    assert.deepEqual(made, [["workspaces"], ["users"]]);
  } finally {
    await server.close();
  }
});
