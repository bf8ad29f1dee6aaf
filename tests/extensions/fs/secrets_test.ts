import assert from "node:assert/strict";
import { SECRET_PATTERNS } from "../../../src/domain/kit/names.ts";
import type { EnvironmentView } from "../../../src/extension/mod.ts";
import { Workspace } from "./_workspace.ts";

interface Asked {
  readonly questions: string[];
  readonly notes: string[];
  answer: boolean;
}

async function secretWorkspace(): Promise<{ readonly workspace: Workspace; readonly asked: Asked }> {
  const workspace = await Workspace.with({
    ".env": "KEY=1\n",
    "sub/id_rsa": "KEY=2\n",
    ".env.example": "KEY=\n",
    "a.ts": "KEY\n",
  });
  const asked: Asked = { questions: [], notes: [], answer: false };
  const keys: Partial<EnvironmentView> = {
    secrets: SECRET_PATTERNS,
    note: (text) => void asked.notes.push(text),
    approve: ({ scope }) => {
      asked.questions.push(scope);
      return Promise.resolve({ allowed: asked.answer, reason: asked.answer ? "" : "the user said no" });
    },
  };
  Object.assign(workspace.env, keys);
  return { workspace, asked };
}

Deno.test("fs asks before a conversation gets a secret file for the first time, whatever the function", async () => {
  const { workspace, asked } = await secretWorkspace();
  await using _ = workspace;
  await Deno.symlink(".env", `${workspace.root}/link`);
  const calls: readonly (readonly unknown[])[] = [
    ["readFile", ".env"],
    ["readFile", "link"],
    ["readLines", ".env"],
    ["edit", ".env", { old: "1", new: "2" }],
    ["writeFile", ".env", "KEY=3\n"],
    ["patch", "--- a/.env\n+++ b/.env\n@@ -1 +1 @@\n-KEY=1\n+KEY=2\n"],
    ["move", ".env", "plain.txt"],
    ["move", "sub", "other"],
    ["remove", ".env"],
  ];
  for (const [name, ...args] of calls) {
    await assert.rejects(workspace.call(String(name), ...args), /may hold keys, and the user said no/, String(name));
  }
  assert.equal(asked.questions.length, calls.length);
  assert.deepEqual([await workspace.text(".env"), await workspace.text("sub/id_rsa")], ["KEY=1\n", "KEY=2\n"]);
  const [read] = await workspace.call("readFiles", [".env"]);
  assert.match(read.error, /may hold keys/);
  asked.answer = true;
  assert.equal(await workspace.call("readFile", ".env"), "KEY=1\n");
  const { length } = asked.questions;
  assert.equal(await workspace.call("readFile", ".env"), "KEY=1\n");
  await workspace.call("edit", ".env", { old: "1", new: "2" });
  assert.equal(asked.questions.length, length);
  assert.ok(asked.questions.includes("the secret file .env"));
});

Deno.test("fs.grep() and fs.count() skip secret files and name them", async () => {
  const { workspace, asked } = await secretWorkspace();
  await using _ = workspace;
  const hits = await workspace.call("grep", "KEY");
  assert.deepEqual(hits.map(({ path }: { path: string }) => path), [".env.example", "a.ts"]);
  assert.deepEqual(asked.notes.splice(0), [
    "Vis did not search .env, sub/id_rsa, since they may hold keys; fs.readFile asks the user",
  ]);
  assert.equal(await workspace.call("count", "KEY"), 2);
  assert.equal(asked.notes.length, 1);
  await assert.rejects(workspace.call("grep", "KEY", ".env"), /Cannot search \.env: it may hold keys/);
  assert.deepEqual(asked.questions, []);
  asked.answer = true;
  await workspace.call("readFile", ".env");
  assert.equal((await workspace.call("grep", "KEY", ".env")).length, 1);
});

Deno.test("fs refuses a secret file without a user to ask, and undo shows none to another conversation", async () => {
  const { workspace, asked } = await secretWorkspace();
  await using _ = workspace;
  asked.answer = true;
  await workspace.call("remove", ".env");
  asked.answer = false;
  await assert.rejects(workspace.call("undo"), /Cannot show the changes of \.env: it may hold keys/);
  const { approve: _approve, ...alone } = workspace.env;
  Object.assign(workspace.env, alone, { approve: undefined });
  await assert.rejects(workspace.call("readFile", "sub/id_rsa"), /no user can answer here; the user's setting secrets/);
  await workspace.call("writeFile", "new/.env", "MINE=1\n");
  assert.equal(await workspace.call("readFile", "new/.env"), "MINE=1\n");
});
