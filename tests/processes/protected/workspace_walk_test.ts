import assert from "node:assert/strict";
import { ROOT } from "../../../scripts/_project.ts";
import { SECRET_PATTERNS } from "../../../src/domain/kit/names.ts";
import { topsOf, WorkspaceWalk } from "../../../src/processes/protected/workspace_walk.ts";
import { withFolder } from "../../helpers/with_folder.ts";
import { join } from "node:path";

const ignore = Deno.build.os !== "linux";

async function looked(script: string): Promise<Readonly<Record<"secrets" | "tops", readonly string[]>>> {
  let found: Readonly<Record<"secrets" | "tops", readonly string[]>> = { secrets: [], tops: [] };
  await withFolder(async (folder) => {
    const workspace = await Deno.realPath(folder), walk = new WorkspaceWalk(SECRET_PATTERNS);
    const { success } = await new Deno.Command("/bin/sh", { args: ["-c", script], cwd: workspace }).output();
    assert.ok(success);
    const files = await walk.look(workspace);
    const own = (path: string): string => path.slice(workspace.length + 1);
    const tops = topsOf(workspace, files).filter((top) => top.startsWith(`${workspace}/`));
    found = {
      secrets: (await walk.secrets(workspace, files)).map(({ path }) => own(path)).sort(),
      tops: tops.map(own).sort(),
    };
  });
  return found;
}

const MANY = "mkdir many && (cd many && seq 2500 | xargs mkdir) && mkdir -p z/y/x";

Deno.test(
  "a pattern with a slash means a path from the workspace, or from the top of its repository",
  { ignore },
  async () => {
    await withFolder(async (folder) => {
      const root = await Deno.realPath(folder), walk = new WorkspaceWalk(["conf/*.json", "!conf/b.json"]);
      for (const below of ["api/conf", "web/conf", "conf"]) {
        await Deno.mkdir(join(root, below), { recursive: true });
        for (const name of ["a.json", "b.json"]) await Deno.writeTextFile(join(root, below, name), "{}");
      }
      const secrets = async (workspace: string) =>
        [...(await walk.look(root, { workspace: join(root, workspace) })).secrets.keys()].sort();
      assert.deepEqual(await secrets("api"), ["api/conf/a.json", "conf/a.json"]);
      assert.deepEqual(await secrets("web"), ["conf/a.json", "web/conf/a.json"]);
      assert.deepEqual(await secrets(""), ["conf/a.json"]);
    });
  },
);

Deno.test("secret files and repositories behind many folders and many names are found", { ignore }, async () => {
  const script =
    `${MANY} && touch z/y/x/.env && mkdir z/y/x/.git && (cd z && seq 21000 | xargs touch && touch own.pem)`;
  assert.deepEqual(await looked(script), { secrets: ["z/own.pem", "z/y/x/.env"], tops: ["z/y/x"] });
});

Deno.test(
  "repositories among packages and bare ones are found, and packages have no secret files",
  { ignore },
  async () => {
    const script = "mkdir -p node_modules/a/.git a/bare/objects a/bare/refs a/x.git/objects a/x.git/refs && " +
      "touch a/bare/HEAD a/x.git/HEAD node_modules/a/cert.pem";
    assert.deepEqual(await looked(script), { secrets: [], tops: ["a/bare", "a/x.git", "node_modules/a"] });
  },
);

const REFUSED: Readonly<Record<string, readonly [script: string, why: RegExp]>> = {
  "a secret file below a name that is not UTF-8": [
    `mkdir "$(printf 'a\\377')" && touch "$(printf 'a\\377')/.env"`,
    /^Error: Cannot run commands: the secret file a.*\/\.env has a name that is not UTF-8/,
  ],
  "a repository below a name that is not UTF-8": [
    `mkdir -p "$(printf 'a\\377')/.git"`,
    /^Error: Cannot run commands: the repository a.* has a name that is not UTF-8/,
  ],
  "more files than can be hidden": [
    `mkdir a && cd a && seq -f .env%g 6000 | xargs touch`,
    /^Error: Cannot run commands: 6000 files may hold keys, and Vis can check at most 5000 of them/,
  ],
};

for (const [name, [script, why]] of Object.entries(REFUSED)) {
  Deno.test(`commands are refused for ${name}`, { ignore }, async () => {
    await assert.rejects(looked(script), why);
  });
}

Deno.test("other names that are not UTF-8 are in no one's way", { ignore }, async () => {
  assert.deepEqual(await looked(`mkdir "$(printf 'a\\377')" && touch "$(printf 'a\\377')/$(printf '\\376')" .env`), {
    secrets: [".env"],
    tops: [],
  });
});

Deno.test("an ordinary user's commands are refused if a hidden folder could be opened, but not if no one can read it", {
  ignore: ignore || Deno.uid() !== 0,
}, async () => {
  await withFolder(async (folder) => {
    const script = `chmod 755 . && mkdir -p w/a w/b/.git && touch w/.env w/a/.env w/b/.env && chown -R 65534:65534 w`;
    const { success } = await new Deno.Command("/bin/sh", { args: ["-c", script], cwd: folder }).output();
    assert.ok(success);
    const workspace = join(await Deno.realPath(folder), "w");
    const module = await asOrdinaryUser(folder);
    const found = async (mode: string): Promise<unknown> => {
      await new Deno.Command("chmod", { args: [mode, join(workspace, "a")] }).output();
      return await module(workspace);
    };
    assert.deepEqual(await found("700"), { secrets: [".env", "a/.env", "b/.env"], closed: [] });
    assert.deepEqual(await found("0"), { secrets: [".env", "b/.env"], closed: ["a"] });
    const why = `Cannot run commands: they could read files in a, where Vis cannot look for keys; run chmod u+r a`;
    assert.deepEqual(await found("300"), why);
  });
});

Deno.test("any number of files that may hold keys leaves this process its files to open", { ignore }, async () => {
  await withFolder(async (folder) => {
    const workspace = await Deno.realPath(folder), walk = new WorkspaceWalk(SECRET_PATTERNS);
    const opened = (): number => [...Deno.readDirSync("/proc/self/fd")].length;
    const { success } = await new Deno.Command("/bin/sh", {
      args: ["-c", "seq -f .env%g 3000 | xargs touch"],
      cwd: workspace,
    }).output();
    assert.ok(success);
    const before = opened();
    assert.equal((await walk.look(workspace)).secrets.size, 3_000);
    assert.ok(opened() - before < 600);
  });
});

Deno.test("a secret file that comes right after a look is found by the next one", { ignore }, async () => {
  await withFolder(async (folder) => {
    const workspace = await Deno.realPath(folder), walk = new WorkspaceWalk(SECRET_PATTERNS);
    for (let at = 0; at < 100; at++) {
      Deno.writeTextFileSync(join(workspace, `${at}.txt`), "");
      await walk.look(workspace);
      Deno.writeTextFileSync(join(workspace, `${at}.pem`), "");
      assert.equal((await walk.look(workspace)).secrets.size, at + 1);
    }
  });
});

/** Looks into a workspace in a process of another user. A bundle is necessary, because that user can read neither this
 * cache nor these sources. */
async function asOrdinaryUser(folder: string): Promise<(workspace: string) => Promise<unknown>> {
  const entry = join(folder, "look.ts"), bundle = join(folder, "look.js"), deno = join(folder, "deno");
  const sources = (path: string): string => JSON.stringify(import.meta.resolve(`../../../src/${path}`));
  await Deno.writeTextFile(
    entry,
    `import { SECRET_PATTERNS } from ${sources("domain/kit/names.ts")};
    import { WorkspaceWalk } from ${sources("processes/protected/workspace_walk.ts")};
    const [workspace] = Deno.args, walk = new WorkspaceWalk(SECRET_PATTERNS);
    const files = await walk.look(workspace);
    const secrets = await walk.secrets(workspace, files).catch((error) => error.message);
    const own = (path) => path.slice(workspace.length + 1);
    const said = Array.isArray(secrets) ? { secrets: secrets.map(({ path }) => own(path)).sort(), closed: files.closed } : secrets;
    console.log(JSON.stringify(said));`,
  );
  const config = ["--config", join(ROOT, "deno.json")];
  const built = await new Deno.Command(Deno.execPath(), { args: ["bundle", "--quiet", ...config, "-o", bundle, entry] })
    .output();
  assert.ok(built.success, new TextDecoder().decode(built.stderr));
  await Deno.copyFile(Deno.execPath(), deno);
  await Deno.chmod(deno, 0o755);
  return async (workspace) => {
    const user = ["--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"];
    const args = [...user, deno, "run", "--no-config", "--cached-only", "-A", bundle, workspace];
    const { stdout, stderr } = await new Deno.Command("setpriv", {
      args,
      cwd: folder,
      env: { DENO_DIR: join(workspace, "cache") },
    }).output();
    assert.notEqual(stdout.length, 0, new TextDecoder().decode(stderr));
    return JSON.parse(new TextDecoder().decode(stdout));
  };
}
