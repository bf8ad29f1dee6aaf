import assert from "node:assert/strict";
import { completions } from "../../../../src/channels/tui/input/completions.ts";

async function offered(
  text: string,
  files: readonly string[],
  by: { readonly force?: boolean } = {},
): Promise<readonly string[]> {
  const folder = await Deno.makeTempDir({ prefix: "vis-complete-" });
  try {
    for (const path of files) {
      await Deno.mkdir(`${folder}/${path}`.replace(/[^/]*$/, ""), { recursive: true });
      await Deno.writeTextFile(`${folder}/${path}`, "");
    }
    const { signal } = new AbortController();
    const found = await completions([], { workspace: folder }).getSuggestions([text], 0, text.length, {
      signal,
      ...by,
    });
    return found?.items.map(({ value }) => value) ?? [];
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const FILES = ["README.md", "src/app.ts", "src/deep/server.ts", "my notes.md", "node_modules/x/app.ts", ".git/app.ts"];

Deno.test("an @ finds files by letters of their path, without hidden folders and folders of tools", async () => {
  assert.deepEqual(await offered("look at @app", FILES), ["@src/app.ts"]);
  assert.deepEqual(await offered("(@srv", FILES), ["@src/deep/server.ts"]);
  assert.deepEqual(await offered("@notes", FILES), ['@"my notes.md"']);
  assert.deepEqual(await offered("@zzz", FILES), []);
  assert.deepEqual(await offered("@src/app.ts", FILES), [], "Enter sends a complete path");
  assert.deepEqual(await offered("me@app", FILES), []);
});

Deno.test("a slash finds the commands that begin with its letters, and no command that only looks similar", async () => {
  const command = (name: string) => ({ name, detail: "", keys: "", run: () => {} });
  const commands = ["conversations", "mcp-login", "model", "more"].map(command);
  const of = async (text: string) => {
    const { signal } = new AbortController();
    const { getSuggestions } = completions(commands, { workspace: "/" });
    return (await getSuggestions([text], 0, text.length, { signal }))?.items.map(({ value }) => value) ?? [];
  };
  assert.deepEqual(await of("/mo"), ["model", "more"]);
  assert.deepEqual(await of("/Conv"), ["conversations"]);
  for (const word of ["/cost", "/login", "/mdl"]) assert.deepEqual(await of(word), [], word);
});

Deno.test("an @ also finds files of added folders, by paths from the workspace", async () => {
  const folder = await Deno.makeTempDir({ prefix: "vis-complete-" });
  try {
    for (const name of ["api", "lib/deep"]) await Deno.mkdir(`${folder}/${name}`, { recursive: true });
    for (const path of ["api/a.ts", "lib/deep/parse.ts"]) await Deno.writeTextFile(`${folder}/${path}`, "");
    const session = { workspace: `${folder}/api`, readFolders: [`${folder}/lib`, `${folder}/api`] };
    const of = async (text: string) => {
      const { signal } = new AbortController();
      const found = await completions([], session).getSuggestions([text], 0, text.length, { signal });
      return found?.items.map(({ value }) => value);
    };
    assert.deepEqual(await of("as in @parse"), ["@../lib/deep/parse.ts"]);
    assert.deepEqual(await of("@../lib"), ["@../lib/", "@../lib/deep/", "@../lib/deep/parse.ts"]);
    assert.deepEqual(await of("@"), ["@a.ts", "@../lib/", "@../lib/deep/", "@../lib/deep/parse.ts"]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("an @ with letters finds names that begin with them first, then other paths with such a part, then paths that contain them", async () => {
  const files = [
    ...Array.from({ length: 9 }, (_, at) => `packages/a${at}.ts`),
    ...["p/a/r.ts", "par-files/z.ts", "lib/compare.ts", "lib/Parse.js"],
  ];
  const found = await offered("@par", files);
  assert.deepEqual(found.slice(0, 4), ["@par-files/", "@lib/Parse.js", "@par-files/z.ts", "@lib/compare.ts"]);
  assert.ok(found.includes("@p/a/r.ts"), found.join());
});

Deno.test("an @ with a whole name finds the file with this name first, and shorter paths before longer ones", async () => {
  const files = ["package.json", "a/deep/pack.ts", "lib/pack.ts", "lib/packer.ts", "pack-old/z.ts", "src/unpack.ts"];
  assert.deepEqual(await offered("@pack", files), [
    "@lib/pack.ts",
    "@a/deep/pack.ts",
    "@pack-old/",
    "@package.json",
    "@lib/packer.ts",
    "@pack-old/z.ts",
    "@src/unpack.ts",
  ]);
});

Deno.test("an @ alone shows files, the ones at the root first", async () => {
  const found = await offered("@", FILES);
  assert.deepEqual(found, [
    "@README.md",
    '@"my notes.md"',
    "@src/",
    "@src/app.ts",
    "@src/deep/",
    "@src/deep/server.ts",
  ]);
});

Deno.test("files whose names command the terminal are not found after an @", async () => {
  assert.deepEqual(await offered("@a", ["a\x1b[2J.ts", "ab.ts"]), ["@ab.ts"]);
});

Deno.test("files whose names break the line of the list are not found", async () => {
  const files = ["a\nb.ts", "a\tc.ts", "ab.ts"];
  assert.deepEqual(await offered("@a", files), ["@ab.ts"]);
  assert.deepEqual(await offered("a", files, { force: true }), ["ab.ts"]);
});
