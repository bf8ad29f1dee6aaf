import assert from "node:assert/strict";
import { join } from "node:path";
import { commit } from "../../../extensions/git/commit.ts";
import extension from "../../../extensions/git/mod.ts";
import { tag } from "../../../extensions/git/branches.ts";
import { merge, pickCommits, rebase } from "../../../extensions/git/merge_rebase.ts";
import { stateOutcome } from "../../../extensions/git/status.ts";
import type { ApprovalRequest } from "../../../src/domain/query/approval.ts";
import type { EnvironmentView } from "../../../src/extension/mod.ts";
import { AskedPrograms } from "../../../src/processes/approved/approved_programs.ts";
import { LinuxWall } from "../../../src/processes/linux/linux_wall.ts";
import { missing, repository, type TestRepository, withHome } from "./_repository.ts";

const hasKeys = await Deno.stat("/usr/bin/ssh-keygen").then(() => true, () => false);
const ignore = missing !== "" || !hasKeys;

interface Signing extends TestRepository {
  readonly asked: ApprovalRequest[];
  readonly notes: string[];
  readonly home: string;
  verify(): Promise<string>;
}

/** The user signs with an ssh key, by settings for this repository only: commits of other tests run at the same time
 * with this home. */
async function signing(
  test: (there: Signing) => Promise<void>,
  { allowed = true, keyed = true, sha256 = false, gpgSign = true }: {
    readonly allowed?: boolean;
    readonly keyed?: boolean;
    readonly sha256?: boolean;
    readonly gpgSign?: boolean;
  } = {},
): Promise<void> {
  await repository(async (there) => {
    const { root, workspace, write } = there, home = join(root, "home"), key = join(home, "keys/id");
    await Deno.mkdir(join(home, "keys"));
    if (keyed) {
      const args = ["-q", "-t", "ed25519", "-N", "", "-C", "ada", "-f", key];
      await new Deno.Command("/usr/bin/ssh-keygen", { args }).output();
      await write(join(home, "allowed"), `ada@example.org ${await Deno.readTextFile(`${key}.pub`)}`);
    }
    await write(join(home, ".gitconfig"), `[includeIf "gitdir:${root}/"]\n\tpath = own\n`);
    await write(
      join(home, "own"),
      `[gpg]\n\tformat = ssh\n[gpg "ssh"]\n\tallowedSignersFile = ${home}/allowed\n[user]\n\tsigningKey = ${key}.pub\n` +
        (gpgSign ? "[commit]\n\tgpgSign = true\n" : ""),
    );
    if (sha256) {
      await Deno.remove(join(workspace, ".git"), { recursive: true });
      await there.git("init", "-q", "-b", "main", "--object-format=sha256", ".");
    }
    const env = { PATH: "/usr/bin:/bin", HOME: home }, visHome = join(home, ".vis");
    const wall = new LinuxWall({ home, visHome, read: [], network: false, env, temporary: join(root, "temporary") });
    const programs = new AskedPrograms({ wall, mode: "ask", env, visHome, vouches: () => true });
    const asked: ApprovalRequest[] = [], notes: string[] = [];
    const view: EnvironmentView = {
      ...there.env,
      home: visHome,
      note: (note) => notes.push(note),
      spawn: (argv, options = {}) =>
        programs.spawn(workspace, argv, { ...options, root: workspace }, { extension: "vis.git", ask: null }),
      approve: (request) => {
        asked.push(request);
        return Promise.resolve({ allowed, reason: allowed ? "" : "the user said no" });
      },
    };
    const verify = async (): Promise<string> => await there.git("log", "-1", "--format=%G? %GS %s");
    await withHome(home, () => test({ ...there, env: view, asked, notes, home, verify }));
  });
}

for (const sha256 of [false, true]) {
  Deno.test(
    `git.commit signs with the user's key${sha256 ? ", in a repository with sha256" : ""}`,
    { ignore },
    async () => {
      await signing(async ({ env, asked, git, write, verify, commonDir, home }) => {
        await write("a.txt", "one\ntwo\n");
        await git("add", ".");
        const { subject, signed } = await commit(env, "signed\n\nBody\n\nand more");
        assert.deepEqual([subject, signed], ["signed", true]);
        assert.equal(await verify(), "G ada@example.org signed\n");
        await git("verify-commit", "HEAD");
        await write("a.txt", "amended\n");
        await commit(env, "signed again", { all: true, amend: true });
        assert.equal(await verify(), "G ada@example.org signed again\n");
        assert.deepEqual(
          asked.map(({ what, exact, scope, lasting }) => [what, exact, scope, lasting])[0],
          [
            "sign the commit with your key",
            'git.commit("signed\\n\\nBody\\n\\nand more")',
            "signed commits without hooks",
            true,
          ],
        );
        assert.equal(asked.length, 2);
        assert.deepEqual([...Deno.readDirSync(commonDir)].filter(({ name }) => /^vis-|\.lock$/.test(name)), []);
        assert.deepEqual([...Deno.readDirSync(join(home, ".vis/mirrors"))], []);
      }, { sha256 });
    },
  );
}

Deno.test("one question covers hooks and the signature, and the hooks see no unsigned commit", { ignore }, async () => {
  await signing(async ({ env, asked, write, git, verify, workspace }) => {
    await write(".git/hooks/commit-msg", '#!/bin/sh\necho "Reviewed-by: me" >> "$1"\n', { mode: 0o755 });
    await write(".git/hooks/post-commit", "#!/bin/sh\ngit cat-file commit HEAD > seen\n", { mode: 0o755 });
    await write("a.txt", "changed\n");
    const message = "both\n\nBody";
    const { body } = await commit(env, message, { paths: "a.txt" });
    assert.equal(body, "Body\nReviewed-by: me");
    assert.equal(await verify(), "G ada@example.org both\n");
    assert.match(await Deno.readTextFile(join(workspace, "seen")), /^gpgsig /m);
    assert.deepEqual(asked.map(({ what, scope }) => [what, scope]), [[
      "commit with the hooks commit-msg, post-commit of this repository, and sign the commit with your key",
      "signed commits with the hooks commit-msg, post-commit",
    ]]);
    assert.equal(await git("status", "--porcelain"), "?? seen\n");
  });
});

Deno.test("git.commit signs the commit that ends a merge", { ignore }, async () => {
  await signing(async ({ env, write, git, verify }) => {
    await git("switch", "-q", "-c", "side");
    await write("a.txt", "side\n");
    await git("commit", "-qam", "side", "--no-gpg-sign");
    await git("switch", "-q", "main");
    await write("a.txt", "main\n");
    await git("commit", "-qam", "main", "--no-gpg-sign");
    assert.equal((await merge(env, "side")).during, "merge");
    await write("a.txt", "both\n");
    await git("add", ".");
    assert.equal((await commit(env, "joined")).parents.length, 2);
    assert.equal(await verify(), "G ada@example.org joined\n");
  });
});

/** `main` and `side` have one commit each that the other lacks. */
async function diverged({ write, git }: Signing): Promise<void> {
  await git("switch", "-q", "-c", "side");
  await write("side.txt", "side\n");
  await git("add", ".");
  await git("commit", "-qm", "side", "--no-gpg-sign", "--author=Bob <bob@example.org>");
  await git("switch", "-q", "main");
  await write("a.txt", "main\n");
  await git("commit", "-qam", "main", "--no-gpg-sign");
}

Deno.test("Vis signs the one new commit of a merge, revert, cherry-pick or rebase", { ignore }, async () => {
  await signing(async (there) => {
    const { env, asked, notes, git, verify } = there;
    await diverged(there);
    const { signed, was, commit } = await merge(env, "side");
    assert.equal(signed, true);
    assert.equal(await verify(), "G ada@example.org Merge branch 'side' into main\n");
    assert.equal(
      await git("log", "-1", "--format=%P %H"),
      `${was} ${await git("rev-parse", "side")}`.trim() + ` ${commit}\n`,
    );
    assert.equal((await merge(env, "side")).signed, undefined);
    await git("reset", "-q", "--hard", "HEAD~");
    await pickCommits(env, "cherry-pick", "side");
    assert.equal(await verify(), "G ada@example.org side\n");
    assert.equal(await git("log", "-1", "--format=%an", "--name-only"), "Bob\n\nside.txt\n");
    await pickCommits(env, "revert", "HEAD");
    assert.equal(await verify(), 'G ada@example.org Revert "side"\n');
    await git("switch", "-q", "side");
    await rebase(env, "main~2");
    assert.equal(await verify(), "G ada@example.org side\n");
    assert.deepEqual(asked.map(({ exact }) => exact), [
      'git.merge("side")',
      'git.cherryPick("side")',
      'git.revert("HEAD")',
      'git.rebase("main~2")',
    ]);
    assert.deepEqual(notes, []);
    await git("reset", "-q", "--hard", "main~2");
    assert.equal((await merge(env, "main")).signed, undefined);
  });
});

Deno.test(
  "Vis signs the one new commit of a merge, rebase or cherry-pick that continues after a conflict",
  { ignore },
  async () => {
    await signing(async ({ env, git, verify, write, notes }) => {
      for (const [name, from] of [["side", "main"], ["main", "main"]] as const) {
        if (name === "side") await git("switch", "-q", "-c", name, from);
        else await git("switch", "-q", name);
        await write("a.txt", `${name}\n`);
        await git("commit", "-qam", name, "--no-gpg-sign");
      }
      const resolved = async (): Promise<void> => {
        await write("a.txt", "both\n");
        await git("add", ".");
      };
      assert.equal((await merge(env, "side")).signed, undefined);
      await resolved();
      assert.equal((await merge(env, { continue: true })).signed, true);
      assert.match(await verify(), /^G ada@example\.org Merge branch 'side'/);
      assert.equal((await git("log", "-1", "--format=%P")).trim().split(" ").length, 2);
      await git("reset", "-q", "--hard", "HEAD~");
      assert.equal((await pickCommits(env, "cherry-pick", "side")).signed, undefined);
      await resolved();
      assert.equal((await pickCommits(env, "cherry-pick", { continue: true })).signed, true);
      assert.equal(await verify(), "G ada@example.org side\n");
      await git("reset", "-q", "--hard", "HEAD~");
      await git("switch", "-q", "side");
      assert.equal((await rebase(env, "main")).signed, undefined);
      await resolved();
      assert.equal((await rebase(env, { continue: true })).signed, true);
      assert.equal(await verify(), "G ada@example.org side\n");
      assert.deepEqual(notes, []);
    });
  },
);

Deno.test("a merge, a rebase of several commits and a tag say that they are not signed", { ignore }, async () => {
  await signing(async (there) => {
    const { env, notes } = there;
    await diverged(there);
    const merged = await merge(env, "side");
    assert.equal(merged.signed, false);
    assert.match(stateOutcome(merged).text, /^main at \w+ Merge branch 'side' into main, not signed$/);
    assert.match(
      notes[0] ?? "",
      /^git\.merge did not sign its commit, .* commit\.gpgSign \(.*the user said no\); tell the user$/,
    );
  }, { allowed: false });
  await signing(async (there) => {
    const { env, asked, notes, git, write, home } = there;
    await diverged(there);
    await write("b.txt", "more\n");
    await git("add", ".");
    await git("commit", "-qm", "more", "--no-gpg-sign");
    assert.equal((await rebase(env, "side")).signed, false);
    assert.match(
      notes[0] ?? "",
      /^git\.rebase did not sign 2 commits, although the settings of git have commit\.gpgSign/,
    );
    assert.equal((await tag(env, "v1", { message: "one" })).signed, undefined);
    await write(join(home, "own"), "[tag]\n\tgpgSign = true\n");
    assert.equal((await tag(env, "v2", { message: "two" })).signed, false);
    assert.equal((await tag(env, "v2", { delete: true })).signed, undefined);
    assert.equal(notes.length, 2);
    assert.deepEqual(asked, []);
  });
});

Deno.test("a signature that fails or that the user refuses commits nothing", { ignore }, async () => {
  await signing(async ({ env, write, git, commonDir }) => {
    await write("a.txt", "changed\n");
    const head = await git("rev-parse", "HEAD");
    await assert.rejects(
      commit(env, "no", { all: true }),
      /^Error: Cannot sign the commit: .*keys\/id.*; ask the user to unlock/s,
    );
    assert.equal(await git("rev-parse", "HEAD"), head);
    assert.equal(await git("status", "--porcelain"), " M a.txt\n");
    assert.deepEqual([...Deno.readDirSync(commonDir)].filter(({ name }) => /^vis-|\.lock$/.test(name)), []);
  }, { keyed: false });
  await signing(async ({ env, write, git, notes, verify }) => {
    await write("a.txt", "changed\n");
    await assert.rejects(
      commit(env, "no", { all: true }),
      /^Error: Cannot commit: the signature needs an approval, and the user said no; \{sign: false\} commits without a signature$/,
    );
    assert.equal(await git("status", "--porcelain"), " M a.txt\n");
    assert.equal((await commit(env, "unsigned", { all: true, sign: false })).signed, false);
    assert.equal(await verify(), "N  unsigned\n");
    assert.match(notes.join(), /did not sign the commit, although .* commit\.gpgSign; tell the user$/);
  }, { allowed: false });
});

Deno.test("a repository can ask for signatures, but names neither program nor key", { ignore }, async () => {
  await signing(async ({ env, write, git, verify, exists, root, home }) => {
    await write("evil", `#!/bin/sh\ntouch ${root}/ran\nexit 1\n`, { mode: 0o755 });
    for (
      const [name, value] of [
        ["commit.gpgSign", "true"],
        ["gpg.format", "openpgp"],
        ...["gpg.program", "gpg.openpgp.program", "gpg.ssh.program", "gpg.ssh.defaultKeyCommand"].map((name) => [
          name,
          join(root, "workspace/evil"),
        ]),
        ["user.signingKey", join(home, "other")],
      ]
    ) await git("config", name ?? "", value ?? "");
    await write("a.txt", "changed\n");
    await commit(env, "signed", { all: true });
    await git("config", "--remove-section", "gpg");
    await git("config", "--remove-section", "gpg.ssh");
    assert.equal(await verify(), "G ada@example.org signed\n");
    assert.equal(exists("ran"), false);
  }, { gpgSign: false });
});

Deno.test("git.commit uses no program or key in the workspace", { ignore }, async () => {
  await signing(async ({ env, write, git, workspace, home, asked }) => {
    await write(join(home, "own"), `[gpg]\n\tprogram = ${workspace}/gpg\n[commit]\n\tgpgSign = true\n`);
    await write("a.txt", "changed\n");
    await assert.rejects(
      commit(env, "no", { all: true }),
      /^Error: Cannot sign the commit: the user's settings of git name a program/,
    );
    await write(join(home, "own"), "[commit]\n\tgpgSign = true\n");
    await Deno.symlink(join(workspace, "gnupg"), join(home, ".gnupg"));
    await Deno.mkdir(join(workspace, "gnupg"));
    await assert.rejects(commit(env, "no", { all: true }), /~\/\.gnupg leads into /);
    assert.deepEqual(asked, []);
    assert.equal((await git("log", "--format=%s")).trim(), "first");
  });
});

Deno.test("a hook gets no signature of another author's commit, and no second one", { ignore }, async () => {
  await signing(async ({ env, write, git, home }) => {
    const forged = (committer: string, author = committer): string =>
      "#!/bin/sh\nfor d in .git/vis-sign-*; do\n" +
      `printf 'tree %s\\nauthor ${author} 1 +0000\\ncommitter ${committer} 1 +0000\\n\\nforged\\n' "$(git write-tree)" > $d/x\n` +
      "mv $d/x $d/payload\nuntil [ -e $d/signature ] || [ -e $d/refused ]; do sleep 0.1; done\n" +
      `cp $d/signature ${home}/../workspace/stolen; done; true\n`;
    await write(".git/hooks/pre-commit", forged("Eve <eve@example.org>"), { mode: 0o755 });
    await write("a.txt", "changed\n");
    const head = await git("rev-parse", "HEAD");
    await assert.rejects(commit(env, "no", { all: true }), /a hook gave the text of another commit, by .*, to sign/);
    await write(".git/hooks/pre-commit", forged("Ada <ada@example.org>", "Eve <eve@example.org>"), { mode: 0o755 });
    await assert.rejects(commit(env, "no", { all: true }), /of another commit, by Eve <eve@example\.org>, to sign/);
    const moved = `#!/bin/sh\nfor d in .git/vis-sign-*; do mv $d ${home}/../workspace/gone; done; true\n`;
    await write(".git/hooks/pre-commit", moved, { mode: 0o755 });
    await write("b.txt", "new\n");
    await commit(env, "signed", { paths: "b.txt" });
    assert.equal((await git("log", "-1", "--format=%G?")).trim(), "G", "no hook moves the folder of the signature");
    await git("reset", "-q", "--hard", head.trim());
    await write("a.txt", "changed\n");
    await write(".git/hooks/pre-commit", forged("Ada <ada@example.org>"), { mode: 0o755 });
    await commit(env, "no", { all: true }).catch(() => {});
    const [last = ""] = (await git("log", "-1", "--format=%G?")).trim();
    assert.notEqual(last, "G", "the signature of the forged text does not fit the commit");
    assert.ok((await git("rev-list", "HEAD")).includes(head.trim()));
  });
});

Deno.test("the outcome of git.commit names a signature that is left out", () => {
  const symbol = extension.symbols?.find(({ name }) => name === "commit");
  assert.ok(symbol?.kind === "function");
  const textOf = (result: object): unknown => Object(symbol.outcome?.({ short: "1a2b3c4", ...result }, ["m"])).text;
  assert.equal(textOf({}), "1a2b3c4");
  assert.equal(textOf({ signed: false }), "1a2b3c4, not signed");
  assert.equal(
    textOf({ signed: false, skippedHooks: ["pre-commit"] }),
    "1a2b3c4, without its hook pre-commit, not signed",
  );
});
