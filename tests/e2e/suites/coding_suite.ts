import assert from "node:assert/strict";
import { replyJson } from "../../helpers/scripted_provider.ts";
import { missing } from "../../extensions/git/_repository.ts";
import type { Launcher } from "../_launcher.ts";
import { launched } from "../helpers/together.ts";
import { User } from "../helpers/user.ts";

const PROJECT: Readonly<Record<string, string>> = {
  "lib/count.sh": '# Lines of a file that hold something.\ncount_lines() {\n  wc -l < "$1" | tr -d " "\n}\n',
  "lib/report.sh": '. ./lib/count.sh\n\nreport() {\n  echo "$2: $(count_words "$1") lines"\n}\n',
  "tests/run.sh": `. ./lib/report.sh
printf 'a\\n\\nb\\n' > "$TMPDIR/sample"
got=$(report "$TMPDIR/sample" sample 2>&1)
if [ "$got" = "sample: 2 lines" ]; then echo "1 passed"; else echo "1 failed: $got"; exit 1; fi
`,
  "README.md": "# Counting\n\nTests: sh tests/run.sh\n",
};

const SETTINGS = '{ "localServers": false, "shell": { "enabled": true }, "budget": { "iterations": 12 } }';
const TEST = 'await shell.run("sh tests/run.sh")';

const SCRIPT = [
  replyJson([
    'const uses = await fs.grep("count_", {glob: "*.sh"}); uses.map(u => [u.path, u.line, u.text.trim()].join(" "))',
    'const parts = await fs.readFiles("lib/*.sh"); parts.map(p => p.text)',
    `const before = ${TEST}; [before.code, before.stdout]`,
  ]),
  replyJson([
    'await fs.edit([{path: "lib/report.sh", old: "count_words", new: "count_lines"}, {path: "lib/count.sh", old: "wc -l <", new: "wc -w <"}])',
    'await fs.edit("lib/count.sh", {old: "wc -w <", new: "wc -c <"})',
    `const second = ${TEST}; [second.code, second.stdout]`,
  ]),
  replyJson([
    `await fs.edit("lib/count.sh", {old: 'wc -c < "$1" | tr -d " "', new: 'grep -c . "$1"'})`,
    `const third = ${TEST}; [third.code, third.stdout]`,
  ]),
  replyJson([
    "const changed = await git.diff(); changed.files.map(f => [f.path, f.added, f.deleted].join())",
    'await git.add(["lib"]); const done = await git.commit("fix: lines that hold nothing are not counted"); [done.short, done.files, done.author.email]',
  ]),
  replyJson([
    `await fs.edit("lib/count.sh", {old: 'grep -c . "$1"', new: 'wc -c < "$1"'}); const undone = await fs.undo(); undone`,
    `const fourth = ${TEST}; const after = await git.status(); [fourth.code, after.files]`,
  ]),
  replyJson([], { final: "{{done.subject}}: {{third.stdout}}" }),
];

async function git(user: User, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command("/usr/bin/git", {
    args: [...args],
    cwd: user.workspace,
    clearEnv: true,
    env: { HOME: user.home, PATH: "/usr/bin:/bin", GIT_CONFIG_NOSYSTEM: "1" },
    stdin: "null",
  }).output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

async function project(user: User): Promise<void> {
  for (const folder of ["lib", "tests"]) await Deno.mkdir(`${user.workspace}/${folder}`);
  for (const [path, text] of Object.entries(PROJECT)) await user.write(path, text);
  await Deno.mkdir(user.path("vis"));
  await Deno.writeTextFile(user.path("vis/config.jsonc"), SETTINGS);
  await Deno.writeTextFile(`${user.home}/.gitconfig`, "[user]\n\tname = Ada\n\temail = ada@example.org\n");
  await git(user, "init", "-q", "-b", "main");
  await git(user, "add", ".");
  await git(user, "commit", "-q", "-m", "begin");
}

export function codingSuite(launcher: Launcher): void {
  if (missing !== "") return;

  launched(launcher, "vis run finds a fault, mends it, runs the tests, commits, and takes a change back", async () => {
    await using user = await User.make(launcher, { reply: SCRIPT });
    await project(user);
    const ran = await user.run(["run", "The count of lines is wrong: fix it and commit", "-q"]);
    assert.deepEqual([ran.code, ran.stdout.trim()], [
      0,
      "fix: lines that hold nothing are not counted: 1 passed",
    ], ran.stderr + JSON.stringify(user.mock.requests.at(-1)?.body).slice(-6_000));

    const told = user.mock.requests.map(({ body }) => JSON.stringify(body));
    const shown = ["1 failed", "1 failed: sample: 5 lines", "1 passed", "ada@example.org", "lib/count.sh"];
    shown.forEach((text, at) => assert.ok(told[at + 1]?.includes(text), `${text} after step ${at + 1}`));
    assert.ok(told[0]?.includes("## git"));

    assert.deepEqual((await git(user, "log", "--format=%s|%an|%ae")).trim().split("\n"), [
      "fix: lines that hold nothing are not counted|Ada|ada@example.org",
      "begin|Ada|ada@example.org",
    ]);
    assert.equal((await git(user, "show", "--stat", "--format=", "HEAD")).match(/lib\/\w+\.sh/g)?.length, 2);
    assert.match(await git(user, "show", "HEAD:lib/count.sh"), /grep -c \. "\$1"/);
    assert.equal(await git(user, "status", "--porcelain"), "");
    assert.equal(await git(user, "fsck"), "");

    const redone = await user.run(["undo", "--redo"]);
    assert.equal(redone.code, 0, redone.stderr);
    assert.match(await Deno.readTextFile(`${user.workspace}/lib/count.sh`), /wc -c/, "what was undone");
    assert.equal((await git(user, "status", "--porcelain")).trim(), "M lib/count.sh");
    await git(user, "checkout", "--", "lib/count.sh");
    const tested = await new Deno.Command("/bin/sh", {
      args: ["tests/run.sh"],
      cwd: user.workspace,
      env: { TMPDIR: user.temporary },
    }).output();
    assert.equal(new TextDecoder().decode(tested.stdout), "1 passed\n");
  });
}

export function changesSuite(launcher: Launcher): void {
  if (missing !== "") return;

  launched(launcher, "hooks run behind the wall when a request begins, changes files and ends", async () => {
    await using user = await User.make(launcher, {
      reply: [replyJson('await fs.writeFile("a.txt", "one")'), replyJson([], { final: "It is written" })],
    });
    const hooks = {
      request: ['echo "$VIS_EVENT" >> hooks.log'],
      edit: ['for file in $VIS_FILES; do echo formatted >> "$file"; done; echo "$VIS_EVENT $VIS_FILES" >> hooks.log'],
      end: ['grep -o \'"answer":"[^"]*"\' >> hooks.log', "cat ../vis/config.jsonc"],
    };
    await Deno.mkdir(user.path("vis"), { recursive: true });
    await Deno.writeTextFile(user.path("vis/config.jsonc"), JSON.stringify({ localServers: false, hooks }));
    const { code, stdout, stderr } = await user.run(["run", "Write it"]);
    assert.deepEqual([code, stdout], [0, "It is written\n"], stderr);
    const read = (name: string) => Deno.readTextFile(`${user.workspace}/${name}`);
    assert.equal(await read("hooks.log"), 'request\nedit a.txt\n"answer":"It is written"\n');
    assert.equal(await read("a.txt"), "oneformatted\n");
    assert.match(stderr, /Hook cat \.\.\/vis\/config\.jsonc ended with exit code \d+: .*(?:denied|No such file)/i);

    const log = await read("hooks.log");
    const { branch: { conversationId } } = await user.queries();
    await user.run(["replay", conversationId]);
    assert.equal(await read("hooks.log"), log, "a replay in a copy runs no hooks in the workspace");
  });

  launched(launcher, "vis run says which files a command changed, and vis undo takes them back", async () => {
    const command = "sed -i s/Counting/Words/ README.md; rm lib/count.sh; echo new > new.txt";
    await using user = await User.make(launcher, {
      reply: [
        replyJson(`const changed = (await shell.run(${JSON.stringify(command)})).changes; changed`),
        replyJson([], { final: "{{changed.files}} files" }),
      ],
    });
    await project(user);
    const ran = await user.run(["run", "Rename it", "--json"]);
    assert.equal(ran.code, 0, ran.stderr);
    assert.equal(JSON.parse(ran.stdout).answer, "3 files");
    const told = JSON.stringify(user.mock.requests[1]?.body);
    assert.match(told, /<changed> new\.txt \+1 −0, lib\/count\.sh \+0 −4|<changed> .*lib\/count\.sh/);
    const undone = await user.run(["undo", "--json"]);
    assert.deepEqual(
      JSON.parse(undone.stdout).files.map(({ path }: { readonly path: string }) => path).sort(),
      ["README.md", "lib/count.sh", "new.txt"],
      undone.stdout + undone.stderr,
    );
    assert.equal(await git(user, "status", "--porcelain"), "");
  });

  launched(launcher, "a block commits a staged rename by one of its names, and sees what came along", async () => {
    const block = 'const moved = await git.commit("move", {paths: "lib/lines.sh"}); ' +
      "const left = (await git.status()).files.length; [moved.files, left]";
    await using user = await User.make(launcher, { reply: [replyJson(block), replyJson([], { final: "Moved" })] });
    await project(user);
    await git(user, "mv", "lib/count.sh", "lib/lines.sh");
    const { code, stderr } = await user.run(["run", "Commit the move", "-q"]);
    assert.equal(code, 0, stderr);
    assert.equal((await git(user, "show", "--name-status", "--format=")).trim(), "R100\tlib/count.sh\tlib/lines.sh");
    const seen = JSON.stringify(user.mock.requests.at(-1)?.body);
    assert.ok(
      seen.includes("[ 1, 0 ]") && seen.includes("the other names of renames: lib/count.sh"),
      seen.slice(-3_000),
    );
  });
}
