import assert from "node:assert/strict";
import { join } from "node:path";
import fs from "../../extensions/fs/mod.ts";
import { openStore } from "../../src/persistence/open_store.ts";
import type { Store } from "../../src/persistence/store.ts";
import { startEngine } from "../helpers/engine.ts";
import { final, replyJson } from "../helpers/scripted_provider.ts";
import { withFolder } from "../helpers/with_folder.ts";

function marked({ context }: { context(call: number): string }, call: number): readonly string[] {
  return [...context(call).matchAll(/^const (\w+)\b.*\/\/.* ?from \S+, which changed since$/gm)].map(([, name = ""]) =>
    name
  )
    .toSorted();
}

Deno.test("a variable of a block with thousands of names is marked when its file changes", async () => {
  await withFolder(async (workspace) => {
    await Deno.writeTextFile(join(workspace, "a.ts"), "one\n".repeat(300));
    const names = Array.from({ length: 500 }, (_, at) => `v${at}`);
    const many = `let ${names.map((name) => `${name} = 1`).join(", ")}; if (v1) console.log([${
      names.join(", ")
    }].length)`;
    await using engine = await startEngine([
      replyJson([`${many}; const a = await fs.readFile("a.ts")`]),
      replyJson(['await fs.writeFile("a.ts", "two")']),
      final("Written"),
    ], { extensions: [fs], workspace });
    await engine.ask("Change it");
    assert.match(engine.context(2), /\ba\b.*from a\.ts, which changed since/);
  });
});

Deno.test("a variable that equals its file is not marked as changed, whoever wrote the file", async () => {
  await withFolder(async (folder) => {
    const workspace = join(folder, "workspace"), path = join(folder, "vis.db");
    await Deno.mkdir(workspace);
    const file = join(workspace, "a.ts"), old = "one\n".repeat(300);
    await Deno.writeTextFile(file, old);
    {
      await using engine = await startEngine([
        replyJson([
          'const a = await fs.readFile("a.ts")',
          'const next = a.replace("one", "two")',
          'await fs.writeFile("a.ts", next)',
        ]),
        replyJson(['await fs.writeFile("a.ts", a)']),
        final("Written"),
        final("Again"),
      ], { extensions: [fs], workspace, path });
      await engine.ask("Change it");
      assert.deepEqual(marked(engine, 1), ["a"]);
      assert.deepEqual(marked(engine, 2), ["next"]);
      await Deno.writeTextFile(file, old.replace("one", "two"));
    }
    await using later = await startEngine([final("Seen"), final("Seen")], { extensions: [fs], workspace, path });
    await later.ask("Look");
    assert.deepEqual(marked(later, 0), ["a"], "the program that wrote the file is another one");
  });
});

Deno.test("a file that becomes a pipe while its text is compared stops no request", async () => {
  await withFolder(async (folder) => {
    const workspace = join(folder, "workspace"), path = join(folder, "vis.db"), file = join(workspace, "a.ts");
    await Deno.mkdir(workspace);
    await Deno.writeTextFile(file, "one\n".repeat(300));
    {
      const replies = [replyJson(['const a = await fs.readFile("a.ts")']), final("Read")];
      await using engine = await startEngine(replies, { extensions: [fs], workspace, path });
      await engine.ask("Read it");
    }
    await Deno.writeTextFile(file, "two\n".repeat(300));
    const store = await openStore({ path }), swapped: string[] = [];
    const variableVersions: Store["variableVersions"] = async (branch, name, options) => {
      if (name === "a") {
        await Deno.remove(file);
        const { code } = await new Deno.Command("mkfifo", { args: [file] }).output();
        swapped.push(`code ${code}`);
      }
      return await store.variableVersions(branch, name, options);
    };
    const swapping: Store = Object.create(store, { variableVersions: { value: variableVersions } });
    await using later = await startEngine([final("Seen")], { extensions: [fs], workspace, store: swapping });
    assert.equal((await later.ask("Look")).answer, "Seen");
    assert.deepEqual(swapped, ["code 0"]);
  });
});
