import assert from "node:assert/strict";
import { SECRET_PATTERNS } from "../../../src/domain/kit/names.ts";
import type { EnvironmentView } from "../../../src/extension/mod.ts";
import { Workspace } from "./_workspace.ts";

interface Asked {
  readonly questions: string[];
  readonly texts: string[];
  readonly notes: string[];
  answer: boolean;
  /** The scopes that a lasting answer allows; true for all scopes. */
  lasting?: true | readonly string[];
}

async function secretWorkspace(): Promise<{ readonly workspace: Workspace; readonly asked: Asked }> {
  const workspace = await Workspace.with({
    ".env": "KEY=1\n",
    "sub/id_rsa": "KEY=2\n",
    ".env.example": "KEY=\n",
    "a.ts": "KEY\n",
  });
  const asked: Asked = { questions: [], texts: [], notes: [], answer: false };
  const keys: Partial<EnvironmentView> = {
    secrets: SECRET_PATTERNS,
    note: (text) => void asked.notes.push(text),
    approve: ({ what, change, scope }, { isQuiet = false } = {}) => {
      if (asked.lasting === true || asked.lasting?.includes(scope)) {
        return Promise.resolve({ allowed: true, reason: "" });
      }
      if (isQuiet) return Promise.resolve({ allowed: false, reason: "Vis asked no user" });
      asked.questions.push(scope);
      asked.texts.push(change === undefined ? what : `${what}\n${change}`);
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
});

Deno.test("fs asks again after each answer for one call, and no more after a lasting one", async () => {
  const { workspace, asked } = await secretWorkspace();
  await using _ = workspace;
  asked.answer = true;
  const calls: readonly (readonly [string, ...unknown[]])[] = [
    ["readFile", ".env"],
    ["readFile", ".env"],
    ["readLines", ".env"],
    ["edit", ".env", { old: "1", new: "2" }],
    ["writeFile", ".env", "KEY=3\n"],
    ["writeFile", ".env", "KEY=4\n"],
    ["readFile", ".env"],
    ["undo"],
    ["remove", ".env"],
  ];
  for (const [at, [name, ...args]] of calls.entries()) {
    await workspace.call(name, ...args);
    assert.equal(asked.questions.length, at + 1, `${name} asked ${asked.questions.length} times`);
  }
  assert.deepEqual(
    asked.questions,
    calls.map(([name]) => name.startsWith("read") ? "reading .env" : "changing .env"),
  );
  await workspace.put(".env", "KEY=5\n");
  asked.lasting = true;
  assert.equal(await workspace.call("readFile", ".env"), "KEY=5\n");
  await workspace.call("edit", ".env", { old: "5", new: "6" });
  assert.equal((await workspace.call("grep", "KEY", ".env")).length, 1);
  assert.equal(asked.questions.length, calls.length);
});

Deno.test("the question about a change of a secret file shows its new lines, and no old one", async () => {
  const { workspace, asked } = await secretWorkspace();
  await using _ = workspace;
  await workspace.put(".env", "OLD=1\nKEY=2\nLAST=3\n");
  const changes: readonly (readonly [string, ...unknown[]])[] = [
    ["edit", ".env", { old: "KEY=2", new: "KEY=4" }],
    ["writeFile", ".env", "OLD=1\nKEY=4\nLAST=3\n"],
    ["patch", "--- a/.env\n+++ b/.env\n@@ -1,3 +1,3 @@\n OLD=1\n-KEY=2\n+KEY=4\n LAST=3\n"],
  ];
  for (const [name, ...args] of changes) {
    await assert.rejects(workspace.call(name, ...args), /may hold keys, and the user said no/, name);
    assert.match(
      asked.texts.pop() ?? "",
      /may hold keys\n--- a\/\.env\n\+\+\+ b\/\.env\n@@ -2,1 \+2,1 @@\n-\[not shown\]\n\+KEY=4\n$/,
      name,
    );
  }
  await assert.rejects(workspace.call("writeFile", ".env", "A=1\n".repeat(1_000)), /a question shows at most 3000/);
  assert.deepEqual(asked.texts, []);
  assert.equal(await workspace.text(".env"), "OLD=1\nKEY=2\nLAST=3\n");
});

Deno.test("a lasting approval to read a secret file allows no change of it, and the reverse", async () => {
  const { workspace, asked } = await secretWorkspace();
  await using _ = workspace;
  asked.lasting = ["reading .env"];
  assert.equal(await workspace.call("readFile", ".env"), "KEY=1\n");
  const changes: readonly (readonly [string, ...unknown[]])[] = [
    ["edit", ".env", { old: "1", new: "2" }],
    ["writeFile", ".env", "KEY=3\n"],
    ["patch", "--- a/.env\n+++ b/.env\n@@ -1 +1 @@\n-KEY=1\n+KEY=2\n"],
    ["move", ".env", ".env.old"],
    ["remove", ".env"],
  ];
  for (const [name, ...args] of changes) {
    await assert.rejects(workspace.call(name, ...args), /may hold keys, and the user said no/, name);
    assert.equal(asked.questions.pop(), "changing .env");
  }
  assert.equal(await workspace.text(".env"), "KEY=1\n");
  asked.lasting = ["changing .env"];
  await workspace.call("edit", ".env", { old: "1", new: "2" });
  assert.deepEqual(asked.questions, []);
  await assert.rejects(workspace.call("readFile", ".env"), /may hold keys/);
  asked.lasting = ["reading .env"];
  await assert.rejects(workspace.call("undo"), /Cannot undo changes of \.env: it may hold keys/);
  asked.lasting = ["changing .env"];
  await workspace.call("undo");
  assert.deepEqual(asked.questions, ["reading .env", "changing .env"]);
});

Deno.test("an approval to change a secret file does not give its text to the model", async () => {
  const { workspace, asked } = await secretWorkspace();
  await using _ = workspace;
  asked.lasting = ["changing .env"];
  const shown = "the lines of this secret file are left out, with";
  const changes: readonly (readonly [counts: string, name: string, ...unknown[]])[] = [
    ["+1 −1", "writeFile", ".env", "MINE=1\n"],
    ["+1 −1", "undo"],
    ["+1 −1", "undo", { redo: true }],
    ["+1 −1", "undo"],
    ["+1 −1", "edit", ".env", { old: "1", new: "2" }],
    ["+1 −1", "patch", "--- a/.env\n+++ b/.env\n@@ -1 +1 @@\n-KEY=2\n+KEY=3\n"],
  ];
  for (const [counts, name, ...args] of changes) {
    const [{ diff }] = [await workspace.call(name, ...args)].flat();
    assert.equal(diff, `--- a/.env\n+++ b/.env\n… ${shown} ${counts} lines\n`, name);
  }
  await workspace.call("remove", ".env");
  const [back] = await workspace.call("undo");
  assert.equal(back.diff, `--- /dev/null\n+++ b/.env\n… ${shown} +1 −0 lines\n`);
  const told: readonly (readonly [scope: string, name: string, ...unknown[]])[] = [
    ["reading and changing .env", "move", ".env", "plain.txt"],
    ["reading and changing .env", "patch", "diff --git a/.env b/plain.txt\nrename from .env\nrename to plain.txt\n"],
    ["reading and changing .env", "patch", "diff --git a/.env b/plain.txt\ncopy from .env\ncopy to plain.txt\n"],
    [
      "reading and changing .env",
      "patch",
      ".env|.env.b .env.b|plain.txt".split(" ").map((pair) => {
        const [from, to] = pair.split("|");
        return `diff --git a/${from} b/${to}\ncopy from ${from}\ncopy to ${to}\n`;
      }).join(""),
    ],
    ["reading .env", "edit", ".env", { old: "KEY=9", new: "x" }],
    ["reading .env", "patch", "--- a/.env\n+++ b/.env\n@@ -1 +1 @@\n-KEY=9\n+KEY=3\n"],
  ];
  for (const [scope, name, ...args] of told) {
    const refused = await workspace.refusal(name, ...args);
    assert.match(refused, /may hold keys, and the user said no/, name);
    assert.doesNotMatch(refused, /KEY/);
    assert.equal(asked.questions.pop(), scope);
  }
  asked.lasting = ["changing .env", "reading .env"];
  assert.match((await workspace.call("edit", ".env", { old: "3", new: "4" })).diff, /-KEY=3\n\+KEY=4/);
});

Deno.test("a change of a secret file that cannot be made asks before its error reveals the text", async () => {
  const { workspace, asked } = await secretWorkspace();
  await using _ = workspace;
  const guess = ["edit", ".env", { old: "KEY=9", new: "x" }] as const;
  const refused = await workspace.refusal(...guess);
  assert.match(refused, /may hold keys, and the user said no/);
  assert.doesNotMatch(refused, /KEY/);
  assert.equal(asked.questions.length, 1);
  asked.answer = true;
  assert.match(await workspace.refusal(...guess), /KEY=1/);
  assert.equal(asked.questions.length, 2);
});

Deno.test("a secret file that the conversation created needs no question until another program changes it", async () => {
  const { workspace, asked } = await secretWorkspace();
  await using _ = workspace;
  await workspace.call("writeFile", "new/.env", "MINE=1\n");
  await workspace.call("edit", "new/.env", { old: "1", new: "2" });
  assert.equal(await workspace.call("readFile", "new/.env"), "MINE=2\n");
  assert.deepEqual(asked.questions, []);
  await workspace.put("new/.env", "USER=12345\n");
  await assert.rejects(workspace.call("readFile", "new/.env"), /may hold keys/);
  assert.equal(asked.questions.length, 1);
});

Deno.test("fs.undo() asks before it brings the text of a removed secret file back", async () => {
  const { workspace, asked } = await secretWorkspace();
  await using _ = workspace;
  asked.answer = true;
  await workspace.call("remove", ".env");
  asked.answer = false;
  await workspace.call("writeFile", ".env", "MINE=1\n");
  await assert.rejects(workspace.call("undo", { steps: 2 }), /Cannot undo changes of \.env: it may hold keys/);
  asked.answer = true;
  await workspace.call("undo", { steps: 2 });
  asked.answer = false;
  await assert.rejects(workspace.call("readFile", ".env"), /may hold keys/);
});

Deno.test("fs.grep() and fs.count() skip secret files and name them", async () => {
  const { workspace, asked } = await secretWorkspace();
  await using _ = workspace;
  const hits = await workspace.call("grep", "KEY");
  assert.deepEqual(hits.map(({ path }: { path: string }) => path), [".env.example", "a.ts"]);
  assert.deepEqual(asked.notes.splice(0), [
    "Vis did not search .env, sub/id_rsa, because such files may hold keys; fs.readFile asks the user",
  ]);
  assert.equal(await workspace.call("count", "KEY"), 2);
  assert.equal(asked.notes.length, 1);
  await assert.rejects(workspace.call("grep", "KEY", ".env"), /Cannot search \.env: it may hold keys/);
  assert.deepEqual(asked.questions, []);
  asked.answer = true;
  await workspace.call("readFile", ".env");
  await assert.rejects(workspace.call("grep", "KEY", ".env"), /Cannot search \.env: it may hold keys/);
});

Deno.test("fs refuses a secret file without a user to ask, and undo shows none to another conversation", async () => {
  const { workspace, asked } = await secretWorkspace();
  await using _ = workspace;
  asked.answer = true;
  await workspace.call("remove", ".env");
  asked.answer = false;
  await assert.rejects(workspace.call("undo"), /Cannot undo changes of \.env: it may hold keys/);
  const { approve: _approve, ...alone } = workspace.env;
  Object.assign(workspace.env, alone, { approve: undefined });
  await assert.rejects(
    workspace.call("readFile", "sub/id_rsa"),
    /no user can answer here; the user can change the setting secrets/,
  );
  await workspace.call("writeFile", "new/.env", "MINE=1\n");
  assert.equal(await workspace.call("readFile", "new/.env"), "MINE=1\n");
});

Deno.test("a question about a secret file names the option that makes this file no secret", async () => {
  const { workspace } = await secretWorkspace();
  await using _ = workspace;
  await Deno.symlink("sub/id_rsa", `${workspace.root}/.env.link`);
  const options: (string | undefined)[] = [];
  const refuse: EnvironmentView["approve"] = ({ option }, { isQuiet = false } = {}) => {
    if (!isQuiet) options.push(option);
    return Promise.resolve({ allowed: false, reason: "no user can answer here" });
  };
  Object.assign(workspace.env, { approve: refuse });
  for (const path of ["sub/id_rsa", ".env.link"]) await assert.rejects(workspace.call("readFile", path));
  assert.deepEqual(options, [
    "--set 'secrets=!sub/id_rsa'",
    "--set 'secrets=!sub/id_rsa' --set 'secrets=!.env.link'",
  ]);
  const all = [...SECRET_PATTERNS, "!sub/id_rsa", "!.env.link"];
  Object.assign(workspace.env, { secrets: all });
  assert.equal(await workspace.call("readFile", ".env.link"), "KEY=2\n");
});

Deno.test("fs never gives the conversation the keys in the folder of Vis, whatever the user answers", async () => {
  const { workspace, asked } = await secretWorkspace();
  await using _ = workspace;
  const home = `${workspace.root}/own`;
  await workspace.put("own/auth.json", '{"openai":{"key":"sk-1"}}\n');
  await workspace.put("own/config.jsonc", '{"key":0}\n');
  await workspace.put("auth.json", "{}\n");
  await Deno.symlink("own/auth.json", `${workspace.root}/link`);
  await Deno.symlink(home, workspace.home);
  Object.assign(workspace.env, { secrets: [] });
  Object.assign(asked, { answer: true, lasting: true });
  const calls: readonly (readonly unknown[])[] = [
    ["readFile", "own/auth.json"],
    ["readFile", "link"],
    ["readLines", "own/auth.json"],
    ["grep", "sk", { path: "own/auth.json" }],
    ["edit", "own/auth.json", { old: "sk-1", new: "sk-2" }],
    ["writeFile", "own/auth.json", "{}\n"],
    ["move", "own/auth.json", "plain.json"],
    ["move", "own", "other"],
    ["remove", "own/auth.json"],
  ];
  for (const [name, ...args] of calls) {
    await assert.rejects(
      workspace.call(String(name), ...args),
      /Cannot .*: Vis keeps its own keys in this file/,
      String(args),
    );
  }
  const found = await workspace.call("grep", "key", { all: true });
  assert.doesNotMatch(JSON.stringify(found), /sk-1/);
  assert.match(await workspace.call("readFile", "own/config.jsonc"), /key/);
  assert.equal(await workspace.call("readFile", "auth.json"), "{}\n");
  assert.deepEqual(asked.questions, []);
});
