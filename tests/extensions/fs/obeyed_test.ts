/** `fs` asks before it changes a file that git runs or reads as settings. */
import assert from "node:assert/strict";
import { join } from "node:path";
import type { ApprovalRequest } from "../../../src/domain/query/approval.ts";
import type { EnvironmentView } from "../../../src/extension/mod.ts";
import { ObeyedPaths } from "../../../src/processes/protected/obeyed_paths.ts";
import { Workspace } from "./_workspace.ts";

const SCRIPT = "#!/bin/sh\n";
const HOOKS = "which git runs by the setting core.hooksPath";

interface Asked {
  readonly questions: ApprovalRequest[];
  answer: boolean;
}

async function git({ root, home }: Workspace, ...args: readonly string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("git", {
    args: [...args],
    cwd: root,
    env: {
      HOME: home,
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_AUTHOR_NAME: "Ada",
      GIT_AUTHOR_EMAIL: "ada@example.org",
      GIT_COMMITTER_NAME: "Ada",
      GIT_COMMITTER_EMAIL: "ada@example.org",
    },
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

async function repository(
  settings: Readonly<Record<string, string>>,
  files: Readonly<Record<string, string>> = {},
): Promise<{ readonly workspace: Workspace; readonly asked: Asked }> {
  const workspace = await Workspace.with({ "a.txt": "a\n", ...files });
  await git(workspace, "init", "-q");
  for (const [name, value] of Object.entries(settings)) await git(workspace, "config", name, value);
  const asked: Asked = { questions: [], answer: false };
  const obeyed = new ObeyedPaths({ home: workspace.home, visHome: null, env: {} });
  const keys: Partial<EnvironmentView> = {
    obeyedPaths: (paths) => obeyed.of(workspace.root, paths),
    approve: (request) => {
      asked.questions.push(request);
      return Promise.resolve({ allowed: asked.answer, reason: asked.answer ? "" : "the user said no" });
    },
  };
  Object.assign(workspace.env, keys);
  return { workspace, asked };
}

Deno.test("every function of fs that changes files asks before it changes a hook that settings name", async () => {
  const { workspace, asked } = await repository({ "core.hooksPath": ".githooks" }, {
    ".githooks/pre-commit": SCRIPT,
    "evil/pre-push": SCRIPT,
  });
  await using _ = workspace;
  const calls: readonly (readonly unknown[])[] = [
    ["writeFile", ".githooks/pre-commit", "#!/bin/sh\nevil\n"],
    ["writeFile", ".githooks/post-commit", "#!/bin/sh\nevil\n"],
    ["edit", ".githooks/pre-commit", { old: "/bin/sh", new: "/bin/evil" }],
    ["patch", "--- /dev/null\n+++ b/.githooks/pre-push\n@@ -0,0 +1 @@\n+evil\n"],
    ["patch", "diff --git a/.githooks/pre-commit b/.githooks/pre-commit\nold mode 100644\nnew mode 100755\n"],
    ["move", "a.txt", ".githooks/pre-push"],
    ["move", "evil/pre-push", ".githooks/deep/pre-push"],
    ["move", ".githooks", "old"],
    ["remove", ".githooks/pre-commit"],
    ["remove", ".githooks", { recursive: true }],
  ];
  for (const [name, ...args] of calls) {
    await assert.rejects(
      workspace.call(String(name), ...args),
      /Cannot change .*which git runs by the setting core\.hooksPath: the user said no/,
      JSON.stringify([name, ...args]),
    );
  }
  assert.equal(asked.questions.length, calls.length);
  assert.deepEqual(await workspace.names(".githooks"), ["pre-commit"]);
  assert.equal(await workspace.text(".githooks/pre-commit"), SCRIPT);
  assert.deepEqual(asked.questions[0], {
    what: `change .githooks/pre-commit, ${HOOKS}`,
    why: "",
    scope: "files that git runs by the setting core.hooksPath",
    scopes: ["files that git runs by the setting core.hooksPath"],
  });

  asked.answer = true;
  await workspace.call("writeFile", ".githooks/pre-commit", "#!/bin/sh\ntrue\n");
  asked.answer = false;
  await assert.rejects(workspace.call("undo"), /Cannot change \.githooks\/pre-commit/);
  assert.equal(await workspace.text(".githooks/pre-commit"), "#!/bin/sh\ntrue\n");
});

Deno.test("fs asks once for all files of one change, and refuses them without a user to ask", async () => {
  const { workspace, asked } = await repository(
    { "core.hooksPath": ".githooks", "include.path": "../shared.config" },
    { "b.txt": "b\n" },
  );
  await using _ = workspace;
  const made = [".githooks/pre-commit", ".githooks/pre-push", "shared.config", "b.txt.txt"];
  const patch = made.map((path) => `--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+x\n`).join("");
  const sentence =
    "change .githooks/pre-commit, .githooks/pre-push, which git runs by the setting core.hooksPath, and " +
    "shared.config, which git reads by the setting include.path";
  await workspace.refusal("patch", patch);
  assert.deepEqual(asked.questions.map(({ what }) => what), [sentence]);
  Object.assign(workspace.env, { approve: undefined });
  assert.equal(await workspace.refusal("patch", patch), `Cannot ${sentence}: no user can answer here`);
  assert.deepEqual(await workspace.names(), [".git", "a.txt", "b.txt"]);
  await workspace.call("writeFile", "b.txt", "c\n");
  await workspace.call("writeFile", "hooks/pre-commit", SCRIPT);
});

Deno.test("fs refuses more files at once than a question can show", async () => {
  const { workspace, asked } = await repository({ "core.hooksPath": ".githooks" });
  await using _ = workspace;
  const patch = Array.from({ length: 51 }, (_, at) => `--- /dev/null\n+++ b/.githooks/${at}\n@@ -0,0 +1 @@\n+x\n`).join(
    "",
  );
  asked.answer = true;
  assert.match(
    await workspace.refusal("patch", patch),
    /Cannot change 51 files that git or Vis uses: the limit of one call is 50/,
  );
  assert.deepEqual(asked.questions, []);
});

/** Returns whether the user's commit runs a hook that `fs` writes to a file of the repository and makes executable. */
async function isRun({ workspace, path }: { readonly workspace: Workspace; readonly path: string }): Promise<boolean> {
  const witness = join(workspace.outside, "witness");
  const lines = ["#!/bin/sh", `touch ${witness}`];
  const patch = `diff --git a/${path} b/${path}\nnew file mode 100755\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1,2 @@\n${
    lines.map((line) => `+${line}\n`).join("")
  }`;
  await workspace.call("patch", patch).catch(() => {});
  await git(workspace, "add", "-A");
  await git(workspace, "commit", "-qm", "x");
  return await Deno.stat(witness).then(() => true, () => false);
}

Deno.test("the user's commit runs no hook that fs wrote without an answer", async () => {
  for (const path of [".githooks/pre-commit", ".husky/_/post-commit"]) {
    const { workspace } = await repository({ "core.hooksPath": path.slice(0, path.lastIndexOf("/")) });
    await using _ = workspace;
    assert.equal(await isRun({ workspace, path }), false, path);
    Object.assign(workspace.env, { obeyedPaths: undefined });
    assert.equal(await isRun({ workspace, path }), true, `${path}, without the question`);
  }
});

Deno.test("fs changes nothing that is obeyed while a command runs that could change it then", async () => {
  const { workspace, asked } = await repository({ "core.hooksPath": ".githooks" });
  await using _ = workspace;
  asked.answer = true;
  const { obeyedPaths = () => Promise.resolve([]) } = workspace.env;
  const busy = async (paths: readonly string[]) =>
    (await obeyedPaths(paths)).map((one) => ({ ...one, running: "npm run dev" }));
  Object.assign(workspace.env, { obeyedPaths: busy });
  await assert.rejects(
    workspace.call("writeFile", ".githooks/pre-commit", SCRIPT),
    /Cannot change \.githooks\/pre-commit, .*: the running command npm run dev could then change the same files; stop the command first/,
  );
  await workspace.call("writeFile", "b.txt", "b\n");
  assert.deepEqual(asked.questions, []);
});

Deno.test("a lasting answer about hooks of one repository does not hold for another, and its scope names it", async () => {
  const { workspace, asked } = await repository({ "core.hooksPath": ".githooks" }, {
    "lib/.githooks/pre-push": SCRIPT,
  });
  await using _ = workspace;
  await git(workspace, "init", "-q", "lib");
  await git(workspace, "-C", "lib", "config", "core.hooksPath", ".githooks");
  asked.answer = true;
  for (const folder of ["", "lib/"]) await workspace.call("writeFile", `${folder}.githooks/pre-commit`, SCRIPT);
  const scopes = ["", " of lib"].map((where) => `files${where} that git runs by the setting core.hooksPath`);
  assert.deepEqual(asked.questions.map(({ scope }) => scope), scopes);
});

Deno.test("a file that becomes a hook by a move shares its content with no other name", async () => {
  const { workspace, asked } = await repository({ "core.hooksPath": ".githooks" }, { "made": SCRIPT });
  await using _ = workspace;
  asked.answer = true;
  await Deno.link(join(workspace.root, "made"), join(workspace.root, "other"));
  await workspace.call("move", "made", ".githooks/pre-commit");
  await workspace.put("other", "changed by a command");
  assert.equal(await workspace.text(".githooks/pre-commit"), SCRIPT);
});
