import assert from "node:assert/strict";
import { runs } from "../../helpers/long_part.ts";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { Workspace } from "./_workspace.ts";

type Entry = { readonly text: string; readonly run: boolean } | { readonly link: string };
type Files = Readonly<Record<string, Entry>>;

const NAMES = [
  "a.txt",
  "a b.txt",
  "b/a.txt",
  "a/x.txt",
  "a/b a/x.txt",
  "b/x",
  " lead",
  "trail ",
  "ü.txt",
  "日本/語 .md",
  'quo"te',
  "back\\slash",
  "tab\there",
  "line\nfeed",
  "-dash",
  "w/i.txt",
  "dev/null",
  "*?[x].ts",
  "émoji 😀",
  "old mode",
];
const LINES = [
  "one",
  "two",
  "three",
  "four",
  "",
  " ",
  "  indented",
  "\tx",
  "-x",
  "+x",
  "-- ",
  "-- a/x.txt",
  "++ b/x.txt",
  "@@ -1 +1 @@",
  "@@",
  "diff --git a/a.txt b/a.txt",
  "index 111..222",
  "rename from x",
  "\\ No newline at end of file",
  "<<<<<<< SEARCH",
  "=======",
  ">>>>>>> REPLACE",
  "```",
  "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001",
  "ü 日本 😀",
  "\u2028",
  "x\ry",
];
const FLAGS: readonly (readonly string[])[] = [
  [],
  ["--no-prefix"],
  ["-M"],
  ["-C", "--find-copies-harder"],
  ["-B", "-M"],
  ["-U0"],
  ["-U1", "-M", "--no-prefix"],
  ["--full-index", "--patience"],
];
const SETTINGS: readonly (readonly string[])[] = [
  [],
  ["-c", "diff.mnemonicPrefix=true"],
  ["-c", "core.quotePath=false"],
  ["-c", "diff.noprefix=true"],
];

const name = fc.constantFrom(...NAMES);
const text = fc.record({
  lines: fc.array(fc.constantFrom(...LINES), { maxLength: 14 }),
  end: fc.constantFrom("\n", "\n", "\n", "\r\n"),
  mark: fc.constantFrom("", "", "", "\uFEFF"),
  isEnded: fc.boolean(),
}).map(({ lines, end, mark, isEnded }) => {
  const all = lines.map((line) => `${line}${end}`).join("");
  return `${mark}${isEnded ? all : all.slice(0, all.endsWith("\r\n") ? -2 : -1)}`;
});
const file: fc.Arbitrary<Entry> = fc.record({ text, run: fc.boolean() }, { noNullPrototype: true });
const entry = fc.oneof({ weight: 6, arbitrary: file }, {
  weight: 1,
  arbitrary: fc.constantFrom("a.txt", "ü.txt", "b/x", "nowhere", "with blank").map((link) => ({ link })),
});
const step = fc.oneof(
  fc.record({ does: fc.constant("put" as const), name, entry }),
  fc.record({ does: fc.constant("remove" as const), name }),
  fc.record({ does: fc.constant("move" as const), name, to: name }),
  fc.record({ does: fc.constant("copy" as const), name, to: name }),
  fc.record({ does: fc.constant("mode" as const), name }),
  fc.record({
    does: fc.constant("edit" as const),
    name,
    at: fc.nat(14),
    gone: fc.nat(2),
    line: fc.constantFrom(...LINES, null),
  }),
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

function after(files: Files, steps: readonly Step[]): Files {
  const now: Record<string, Entry> = { ...files };
  for (const one of steps) {
    const old = now[one.name];
    if (one.does === "put") now[one.name] = one.entry;
    else if (old === undefined) continue;
    else if (one.does === "remove") delete now[one.name];
    else if (one.does === "move" || one.does === "copy") {
      if (one.does === "move") delete now[one.name];
      now[one.to] = old;
    } else if ("text" in old) now[one.name] = one.does === "mode" ? { ...old, run: !old.run } : edited(old, one);
  }
  return now;
}

function edited(
  old: Extract<Entry, { text: string }>,
  { at, gone, line }: Pick<Extract<Step, { does: "edit" }>, "at" | "gone" | "line">,
): Entry {
  const lines = old.text.split("\n");
  lines.splice(at, gone, ...line === null ? [] : [old.text.includes("\r\n") ? `${line}\r` : line]);
  return { ...old, text: lines.join("\n") };
}

/** The texts have no NUL, so git treats them as text. */
async function write(root: string, files: Files): Promise<void> {
  for (const [path, one] of Object.entries(files)) {
    const at = join(root, path);
    await Deno.mkdir(dirname(at), { recursive: true });
    if ("link" in one) await Deno.symlink(one.link, at);
    else {
      await Deno.writeTextFile(at, one.text);
      await Deno.chmod(at, one.run ? 0o755 : 0o644);
    }
  }
}

async function read(root: string, at = "."): Promise<Record<string, Entry>> {
  const found: Record<string, Entry> = {};
  for await (const { name, isDirectory, isSymlink } of Deno.readDir(join(root, at))) {
    const path = join(at, name);
    if (name === ".git") continue;
    if (isDirectory) Object.assign(found, await read(root, path));
    else if (isSymlink) found[path] = { link: await Deno.readLink(join(root, path)) };
    else {
      const { mode } = await Deno.stat(join(root, path));
      found[path] = {
        text: new TextDecoder("utf-8", { ignoreBOM: true }).decode(await Deno.readFile(join(root, path))),
        run: ((mode ?? 0) & 0o100) !== 0,
      };
    }
  }
  return found;
}

class Repository implements AsyncDisposable {
  readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  static async with(files: Files): Promise<Repository> {
    const repository = new Repository(await Deno.makeTempDir());
    await repository.git("init", "-q");
    await write(repository.root, files);
    await repository.commit("first");
    return repository;
  }

  async git(...args: readonly string[]): Promise<string> {
    const none = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null", HOME: this.root };
    const who = [
      "-c",
      "user.name=A",
      "-c",
      "user.email=a@b",
      "-c",
      "core.autocrlf=false",
      "-c",
      "commit.gpgSign=false",
    ];
    const { success, stdout, stderr } = await new Deno.Command("git", {
      args: [...who, ...args],
      cwd: this.root,
      env: none,
    }).output();
    assert.ok(success, new TextDecoder().decode(stderr));
    return new TextDecoder("utf-8", { ignoreBOM: true, fatal: true }).decode(stdout);
  }

  async become(files: Files): Promise<void> {
    for (const path of Object.keys(await read(this.root))) await Deno.remove(join(this.root, path));
    await write(this.root, files);
    await this.git("add", "-A");
  }

  async commit(message: string): Promise<void> {
    await this.git("add", "-A");
    await this.git("commit", "-q", "--allow-empty", "-m", message);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.root, { recursive: true });
  }
}

const trees = fc.record({
  first: fc.dictionary(name, entry, { minKeys: 1, maxKeys: 6, noNullPrototype: true }),
  steps: fc.array(step, { minLength: 1, maxLength: 5 }),
  more: fc.array(step, { minLength: 1, maxLength: 3 }),
});

Deno.test("fs.patch() applies the output of git diff: names, contents, modes, links, renames and copies", async () => {
  await fc.assert(
    fc.asyncProperty(trees, fc.constantFrom(...FLAGS), fc.constantFrom(...SETTINGS), async (tree, flags, settings) => {
      const wanted = after(tree.first, tree.steps);
      // With -B, git does not print that a link is removed before a file is renamed to its name. Git then does not
      // apply its own patch.
      fc.pre(!flags.includes("-B") || !Object.values({ ...tree.first, ...wanted }).some((one) => "link" in one));
      await using repository = await Repository.with(tree.first);
      await repository.become(wanted);
      const diff = await repository.git(...settings, "diff", "--cached", ...flags);
      fc.pre(diff !== "");
      await using workspace = await Workspace.with();
      await write(workspace.root, tree.first);
      await workspace.call("patch", diff).catch((error) => assert.fail(`${error.message}\n${diff}`));
      assert.deepEqual(await read(workspace.root), wanted, diff);
      await workspace.call("undo");
      assert.deepEqual(await read(workspace.root), tree.first, diff);
    }),
    { numRuns: runs(10, 30) },
  );
});

Deno.test("fs.patch() applies the mails of git format-patch, one commit after the other", async () => {
  const message = "Say more\n\nrename from here to there, and\n- index of it\n+ diff --git is not meant\n";
  await fc.assert(
    fc.asyncProperty(trees, async (tree) => {
      const second = after(tree.first, tree.steps);
      const third = after(second, tree.more);
      await using repository = await Repository.with(tree.first);
      await repository.become(second);
      await repository.commit(message);
      await repository.become(third);
      await repository.commit(message);
      const mails = await repository.git("format-patch", "--stdout", "-M", "-2");
      fc.pre(mails.includes("\ndiff --git "));
      await using workspace = await Workspace.with();
      await write(workspace.root, tree.first);
      await workspace.call("patch", mails).catch((error) => assert.fail(`${error.message}\n${mails}`));
      assert.deepEqual(await read(workspace.root), third, mails);
    }),
    { numRuns: runs(5, 15) },
  );
});
