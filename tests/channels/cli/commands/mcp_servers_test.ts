import assert from "node:assert/strict";
import { shipped } from "../../../../extensions/index.ts";
import { AppConfigAdmin } from "../../../../src/app/settings/config_admin.ts";
import { runCli } from "../../../../src/channels/cli/cli.ts";
import { Cancelled } from "../../../../src/domain/errors.ts";
import type { ExtensionAdmin } from "../../../../src/domain/admin_reports.ts";
import { withFolder } from "../../../helpers/with_folder.ts";
import { fakeIo, fakeServices } from "../_fakes.ts";

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

type Run = (...args: string[]) => Promise<Ran>;

async function withServers(
  work: (run: Run, file: () => Promise<string>) => Promise<void>,
  answers: readonly object[] | null = [],
  checking?: (candidate: unknown) => Promise<void>,
): Promise<void> {
  await withFolder(async (home) => {
    const env = { VIS_HOME: home, HOME: home };
    const admin: ExtensionAdmin = {
      ...await fakeServices().extensionAdmin({}),
      run: async (_words, { print, candidate }) => {
        await checking?.(candidate);
        if (answers === null) return null;
        for (const one of answers) print(`${JSON.stringify(one)}\n`);
        return 0;
      },
    };
    const services = fakeServices({
      extensionAdmin: () => Promise.resolve(admin),
      configAdmin: (request) => AppConfigAdmin.open({ ...request, cwd: home }, { env, shipped }),
    });
    const run: Run = async (...args) => {
      const io = fakeIo({ args: ["mcp", ...args] });
      const code = await runCli(services, io);
      return { code, out: io.out, err: io.err };
    };
    await work(run, () => Deno.readTextFile(`${home}/config.jsonc`));
  });
}

Deno.test("vis mcp add, list and remove change the servers in the settings", () =>
  withServers(async (run, file) => {
    assert.deepEqual(await run("list"), {
      ...{ code: 0, out: "" },
      err: "The settings have no MCP servers. vis mcp add NAME COMMAND-OR-URL adds one.\n",
    });
    const more = ["--env", "TOKEN=${auth:acme}", "--write", "notes", "--network"];
    const added = await run("add", "files", "npx", ...more, "--", "-y", "@acme/files", "${workspace}");
    assert.deepEqual([added.code, added.err], [0, ""]);
    assert.match(added.out, /^Added files in .*config\.jsonc\. Vis uses it from the next start\.\n$/);
    assert.equal(
      (await run("add", "hub", "https://hub.example/mcp", "--header", "Authorization: Bearer ${HUB}")).code,
      0,
    );
    const { servers } = JSON.parse(await file()).extensions.config["vis.mcp"];
    assert.deepEqual(servers, {
      files: {
        command: "npx",
        args: ["-y", "@acme/files", "${workspace}"],
        env: { TOKEN: "${auth:acme}" },
        write: ["notes"],
        network: true,
      },
      hub: { url: "https://hub.example/mcp", headers: { Authorization: "Bearer ${HUB}" } },
    });
    assert.equal(
      (await run("list")).out,
      "files  npx -y @acme/files ${workspace}  (network; writes notes)\nhub  https://hub.example/mcp\n",
    );
    assert.equal((await run("remove", "files")).code, 0);
    assert.deepEqual(Object.keys(JSON.parse((await run("list", "--json")).out)), ["hub"]);
  }));

Deno.test("vis mcp add and remove refuse impossible changes, and name a remedy", () =>
  withServers(async (run) => {
    await run("add", "files", "files-server");
    const refused: readonly (readonly [readonly string[], RegExp])[] = [
      [["add", "files", "other"], /a server with this name exists; add --force to replace it/],
      [["add", "a/b", "x"], /its name must begin with a letter/],
      [["add", "a".repeat(41), "x"], /at most 40 letters/],
      [["add", "hub", "https://h.example", "--network"], /--network with an address: only a program takes this option/],
      [["add", "hub", "https://h.example", "--", "x"], /a server with an address takes no arguments/],
      [["add", "hub", "h", "--header", "A: b"], /--header with a program: only an address takes this option/],
      [
        ["add", "hub", "h", "--env", "TOKEN"],
        /it does not have the form NAME=VALUE, such as 'TOKEN=\$\{auth:github\}'/,
      ],
      [
        ["add", "hub", "https://h.example", "--header", "Authorization: Bearer abcdefgh123"],
        /Cannot save .* in a settings file/,
      ],
      [["remove", "filse"], /no server has this name; did you mean files\?/],
    ];
    for (const [args, why] of refused) {
      const { code, err } = await run(...args);
      assert.equal(code, 2, args.join(" "));
      assert.match(err, why);
    }
    assert.equal((await run("add", "files", "other", "--force")).code, 0);
    assert.match((await run("add", "tools", "uvx", "--", "acme")).err, /downloads its program: add --network/);
    assert.match((await run("list")).out, /^files {2}other\ntools {2}uvx acme\n$/);
  }));

Deno.test("vis mcp login and logout are commands of the extension, whose text is made visible", async () => {
  const services = fakeServices({});
  const admin = await services.extensionAdmin({});
  const asked: (readonly string[])[] = [];
  const vis = async (words: readonly string[], code: number | null) => {
    const io = fakeIo({ args: ["mcp", ...words] });
    const run = (args: readonly string[], { print }: { readonly print: (text: string) => void }) => {
      asked.push(args);
      print("said\u001b[2J\n");
      return Promise.resolve(code);
    };
    const told = await runCli({ ...services, extensionAdmin: () => Promise.resolve({ ...admin, run }) }, io);
    assert.ok(!io.err.includes("\u001b"));
    return { told, err: io.err };
  };
  assert.equal((await vis(["login", "hub", "--paste"], 1)).told, 1);
  assert.equal((await vis(["login", "hub"], 0)).told, 0);
  assert.equal((await vis(["logout", "hub"], 0)).told, 0);
  assert.deepEqual(asked, [["mcp-login", "hub", "--paste"], ["mcp-login", "hub"], ["mcp-logout", "hub"]]);
  const { told, err } = await vis(["login", "hub"], null);
  assert.equal(told, 2);
  assert.match(err, /the extension for MCP servers is not loaded/);
  const out = await vis(["logout", "hub"], null);
  assert.match(out.err, /Cannot change a login: the extension for MCP servers is not loaded/);
});

Deno.test("vis mcp add tells that it did not check a server if the extension is disabled", () =>
  withServers(async (run, file) => {
    const { code, err } = await run("add", "hub", "tool");
    assert.equal(code, 0);
    assert.match(err, /Vis did not check hub, and does not use it: the extension for MCP servers is not loaded/);
    assert.match(await file(), /"hub"/);
    assert.equal((await run("list")).out, "hub  tool\n");
  }, null));

Deno.test("vis mcp add reports the found tools, refuses a server that does not answer, and list shows the state", async () => {
  const state = (state: string, found: string): object => ({ name: "s", state, found });
  await withServers(async (run, file) => {
    assert.match((await run("add", "s", "tool")).out, /^Added s \(3 tools\) in /);
    assert.equal((await run("list")).out, "✓ s  tool  3 tools\n");
    assert.equal((await run("list", "--no-check")).out, "s  tool\n");
    const listed = JSON.parse((await run("list", "--json")).out);
    assert.deepEqual(listed.s, { command: "tool", state: "ok", found: "3 tools" });
    assert.match(await file(), /"tool"/);
  }, [state("ok", "3 tools")]);
  await withServers(async (run, file) => {
    const refused = await run("add", "s", "tool");
    assert.deepEqual([refused.code, refused.out], [2, ""]);
    assert.equal(
      refused.err,
      "vis: Cannot add server s: its check failed (it ended with code 1); --no-check adds the server without a check\n",
    );
    await assert.rejects(file(), Deno.errors.NotFound);
    assert.equal((await run("add", "s", "tool", "--no-check")).code, 0);
    assert.equal((await run("add", "s", "other", "--force")).code, 2);
    assert.match(await file(), /"tool"/, "the server before is kept");
    assert.equal((await run("list")).out, "✗ s  tool\n    it ended with code 1\n");
  }, [state("failed", "it ended with code 1")]);
  await withServers(async (run) => {
    const added = await run("add", "s", "https://a.example/mcp");
    assert.equal(added.code, 0);
    assert.equal(added.err, "vis: s does not work yet: the server wants a login: run vis mcp login s\n");
  }, [state("login", "the server wants a login: run vis mcp login s")]);
});

Deno.test("vis mcp add ends by Ctrl-C with exit code 130 and a message", async () => {
  const io = fakeIo({ args: ["mcp", "add", "slow", "sleep"] });
  const admin: ExtensionAdmin = {
    ...await fakeServices().extensionAdmin({}),
    run: (_words, { signal }) => {
      io.interrupt();
      return signal?.aborted ? Promise.reject(new Cancelled("Cancelled")) : Promise.resolve(0);
    },
  };
  await withFolder(async (home) => {
    const services = fakeServices({
      extensionAdmin: () => Promise.resolve(admin),
      configAdmin: (request) =>
        AppConfigAdmin.open({ ...request, cwd: home }, { env: { VIS_HOME: home, HOME: home }, shipped }),
    });
    assert.equal(await runCli(services, io), 130);
  });
  assert.equal(io.err, "vis: Cancelled\n");
});

Deno.test("vis mcp add starts a server before the settings have it", async () => {
  const seen: unknown[] = [];
  let file: () => Promise<string> = () => Promise.reject(new Error("not ready"));
  await withServers(
    async (run, read) => {
      file = read;
      await run("add", "s", "before", "--no-check");
      assert.equal((await run("add", "s", "tool", "--force")).code, 0);
      assert.match(await read(), /"tool"/);
    },
    [{ name: "s", state: "ok", found: "3 tools" }],
    async (candidate) => {
      seen.push(candidate, /"tool"/.test(await file()));
    },
  );
  assert.deepEqual(seen, [{ key: "extensions.config.vis.mcp.servers.s", value: { command: "tool" } }, false]);
});
