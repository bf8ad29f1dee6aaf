import assert from "node:assert/strict";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { zstdCompressSync } from "node:zlib";
import { PartFiles } from "../../../scripts/executable/part_files.ts";
import { ProgramModules } from "../../../scripts/executable/program_modules.ts";
import { moduleScript } from "../../../scripts/executable/module_script.ts";

const script = (name: string, code: string): string => moduleScript(name, code);
const file = (...parts: readonly string[]): string => `(define) => {\n${parts.join("")}}\n`;

async function withFolder(
  files: Readonly<Record<string, string | Uint8Array>>,
  use: (url: string, path: string) => Promise<void>,
): Promise<void> {
  const path = await Deno.makeTempDir({ prefix: "vis program modules " });
  try {
    for (const [name, content] of Object.entries(files)) {
      await Deno.writeFile(join(path, name), typeof content === "string" ? new TextEncoder().encode(content) : content);
    }
    await use(`${pathToFileURL(path)}/`, path);
  } finally {
    await Deno.remove(path, { recursive: true });
  }
}

const PACK = file(
  script("program.js", 'import{a}from"./a.js";var later=()=>import("./later.js");export{a,later};'),
  script("a.js", 'import{join}from"node:path";var a={path:join("x","y")};export{a};'),
);

Deno.test("ProgramModules evaluates each module once, in the pack and in files of their own", async () => {
  const later = file(script("later.js", 'import{a}from"./a.js";export{a as same};'));
  await withFolder({ "program.js": PACK, "later.js": later }, async (url) => {
    const modules = new ProgramModules(url, new PartFiles(url, { attached: null }));
    const program = Object(await modules.load("./program.js"));
    assert.deepEqual(program.a, { path: join("x", "y") });
    assert.deepEqual(modules.evaluated, ["a.js", "program.js"]);
    assert.equal((await program.later()).same, program.a);
    assert.equal(await modules.load("./program.js"), program);
    assert.equal(Object(await modules.load("node:path")).join, join);
  });
});

Deno.test("ProgramModules waits for a module that awaits, which no other may import statically", async () => {
  const waiting = file(script("waiting.js", "var a=await Promise.resolve(1);export{a};"));
  const importing = file(script("importing.js", 'import{a}from"./waiting.js";export{a};'));
  await withFolder({ "program.js": PACK, "waiting.js": waiting, "importing.js": importing }, async (url) => {
    const modules = new ProgramModules(url, new PartFiles(url, { attached: null }));
    await assert.rejects(
      modules.load("./importing.js"),
      /Cannot load importing\.js: it does not wait for \.\/waiting\.js/,
    );
    assert.deepEqual({ ...Object(await modules.load("./waiting.js")) }, { a: 1 });
  });
});

Deno.test("ProgramModules reads compressed modules, and rejects for a missing one", async () => {
  const later = zstdCompressSync(file(script("later.js", 'var text="–";export{text};')));
  await withFolder({ "program.js": PACK, "later.js.zst": later }, async (url) => {
    const modules = new ProgramModules(url, new PartFiles(url, { attached: null }));
    assert.deepEqual({ ...Object(await modules.load("./later.js")) }, { text: "–" });
    await assert.rejects(modules.load("./missing.js"), Deno.errors.NotFound);
  });
});

Deno.test("ProgramModules uses its code cache, and ignores a cache that does not fit", async () => {
  await withFolder({ "program.js": PACK }, async (url, path) => {
    const first = new ProgramModules(url, new PartFiles(url, { attached: null }));
    await first.load("./program.js");
    const cache = first.codeCache();
    assert.ok(cache.length > 0);
    for (const bytes of [cache, new Uint8Array(100)]) {
      await Deno.writeFile(join(path, "program.cache"), bytes);
      const again = Object(await new ProgramModules(url, new PartFiles(url, { attached: null })).load("./program.js"));
      assert.deepEqual(again.a, { path: join("x", "y") });
    }
  });
});
