/** Which files of a workspace are hidden and kept, however many there are. */
import assert from "node:assert/strict";
import { SECRET_PATTERNS } from "../../src/domain/kit/secret_files.ts";
import { topsOf, WorkspaceWalk } from "../../src/processes/_workspace_walk.ts";
import { withFolder } from "../helpers/with_folder.ts";

const ignore = Deno.build.os !== "linux";

/** The secret files and repositories of a workspace that a script made, relative to it. */
async function looked(script: string): Promise<Readonly<Record<"secrets" | "tops", readonly string[]>>> {
  let found: Readonly<Record<"secrets" | "tops", readonly string[]>> = { secrets: [], tops: [] };
  await withFolder(async (folder) => {
    const workspace = await Deno.realPath(folder), walk = new WorkspaceWalk(SECRET_PATTERNS);
    const { success } = await new Deno.Command("/bin/sh", { args: ["-c", script], cwd: workspace }).output();
    assert.ok(success);
    const files = await walk.look(workspace);
    const own = (path: string): string => path.slice(workspace.length + 1);
    const tops = topsOf(workspace, files).filter((top) => top.startsWith(`${workspace}/`));
    found = { secrets: (await walk.secrets(workspace, files)).map(own).sort(), tops: tops.map(own).sort() };
  });
  return found;
}

const MANY = "mkdir many && (cd many && seq 2500 | xargs mkdir) && mkdir -p z/y/x";

Deno.test("secret files and repositories behind many folders and many names are found", { ignore }, async () => {
  const script =
    `${MANY} && touch z/y/x/.env && mkdir z/y/x/.git && (cd z && seq 21000 | xargs touch && touch own.pem)`;
  assert.deepEqual(await looked(script), { secrets: ["z/own.pem", "z/y/x/.env"], tops: ["z/y/x"] });
});

Deno.test(
  "repositories among packages and bare ones are found, and packages have no secret files",
  { ignore },
  async () => {
    const script =
      "mkdir -p node_modules/a/.git a/bare/objects a/bare/refs && touch a/bare/HEAD node_modules/a/cert.pem";
    assert.deepEqual(await looked(script), { secrets: [], tops: ["a/bare", "node_modules/a"] });
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
    /^Error: Cannot run commands: 6000 files may hold keys, and 500 is the most/,
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
