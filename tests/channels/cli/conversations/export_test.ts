import assert from "node:assert/strict";
import { lstat, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { exportCommand, importCommand } from "../../../../src/channels/cli/commands/export.ts";
import { UsageError } from "../../../../src/domain/errors.ts";
import { startEngine } from "../../../helpers/engine.ts";
import { replyJson } from "../../../helpers/scripted_provider.ts";
import { withFolder } from "../../../helpers/with_folder.ts";
import { engineServices } from "../_engine_services.ts";
import { fakeIo } from "../_fakes.ts";

Deno.test("exportCommand() writes every format whole into a file of its owner, or to stdout", async () => {
  await using engine = await startEngine([replyJson("const a = 6 * 7\na", { final: "It is {{a}}", thinking: "hm" })]);
  await engine.ask("What is it?");
  const id = engine.branch.conversationId;
  await withFolder(async (folder) => {
    for (
      const [format, part] of [["md", "> It is 42"], ["html", "<!doctype html>"], ["json", '"version": 2']] as const
    ) {
      const { io, services } = engineServices(engine);
      assert.equal(await exportCommand(id, { services, io, flags: { format } }), 0);
      assert.ok(io.out.includes(part), io.out);
      const output = join(folder, `out.${format}`);
      for (let twice = 0; twice < 2; twice++) await exportCommand(id, { services, io, flags: { format, output } });
      assert.equal(await readFile(output, "utf8"), io.out);
      if (Deno.build.os !== "windows") assert.equal((await stat(output)).mode & 0o777, 0o600);
    }
    assert.deepEqual((await readdir(folder)).sort(), ["out.html", "out.json", "out.md"]);
  });
});

Deno.test("exportCommand() gives the reason why a file cannot be written, and leaves no file", async () => {
  await using engine = await startEngine([replyJson([], { final: "Yes" })]);
  await engine.ask("x");
  const { io, services } = engineServices(engine);
  const id = engine.branch.conversationId;
  await withFolder(async (folder) => {
    const write = (output: string) => exportCommand(id, { services, io, flags: { format: "md", output } });
    await assert.rejects(write(join(folder, "none", "x.md")), /Cannot write .*x\.md: there is no such file or folder/);
    await assert.rejects(write(folder), UsageError);
    assert.deepEqual(await readdir(folder), []);
  });
});

Deno.test({
  name: "exportCommand() writes to where a link leads, and into a pipe, and keeps both",
  ignore: Deno.build.os === "windows",
  fn: async () => {
    await using engine = await startEngine([replyJson([], { final: "Yes" })]);
    await engine.ask("x");
    const { io, services } = engineServices(engine);
    await withFolder(async (folder) => {
      const [file, link, pipe] = ["file", "link", "pipe"].map((name) => join(folder, name)) as [string, string, string];
      await writeFile(file, "before");
      await symlink(file, link);
      await new Deno.Command("mkfifo", { args: [pipe] }).output();
      const write = (output: string) =>
        exportCommand(engine.branch.conversationId, { services, io, flags: { format: "md", output } });
      await write(link);
      assert.match(await readFile(file, "utf8"), /> Yes/);
      assert.ok((await lstat(link)).isSymbolicLink());
      const [read] = await Promise.all([readFile(pipe, "utf8"), write(pipe)]);
      assert.equal(read, await readFile(file, "utf8"));
      assert.ok((await lstat(pipe)).isFIFO());
    });
  },
});

Deno.test("importCommand() stores an exported conversation, prints its id, and names the others", async () => {
  await using engine = await startEngine([replyJson("const a = [1]", { final: "made" })]);
  await engine.ask("x");
  const id = engine.branch.conversationId;
  await withFolder(async (folder) => {
    const path = join(folder, "c.json");
    const { io, services } = engineServices(engine);
    await exportCommand(id, { services, io, flags: { format: "json", output: path } });
    assert.equal(await importCommand(path, { services, io, flags: { output: "text", quiet: false, trust: false } }), 0);
    const copy = io.out.trim();
    assert.match(io.err, new RegExp(`^conversation ${id} → ${copy}\nbranch {7}\\S+ → \\S+\n\\d+ new ids;`));
    assert.equal((await engine.conversations.byId(copy)).workspace, "/nowhere");
    const json = engineServices(engine);
    await importCommand(path, { ...json, flags: { output: "json", quiet: true, trust: false } });
    assert.equal(JSON.parse(json.io.out).ids[id], JSON.parse(json.io.out).conversationId);
    assert.equal((await engine.conversations.list({ limit: 9 })).length, 3);
  });
});

Deno.test("importCommand() refuses files of another format, and stores nothing", async () => {
  await using engine = await startEngine([]);
  await withFolder(async (folder) => {
    const path = join(folder, "bad.json");
    const { io, services } = engineServices(engine);
    const load = (file: string) =>
      importCommand(file, { services, io, flags: { output: "text", quiet: true, trust: false } });
    for (const bytes of [new Uint8Array([0xff, 0xfe, 0]), new TextEncoder().encode("{}"), new Uint8Array()]) {
      await writeFile(path, bytes);
      await assert.rejects(load(path), UsageError);
    }
    await assert.rejects(load(join(folder, "none.json")), /there is no such file or folder/);
    await assert.rejects(load(folder), /Cannot import/);
    assert.equal((await engine.conversations.list({ limit: 9 })).length, 1);
  });
});

Deno.test("importCommand() names the code in a file, and imports it only if that is trusted", async () => {
  await using engine = await startEngine([
    replyJson("const f = () => 1; function g() {}\nclass A {}", { final: "made" }),
  ]);
  await engine.ask("x");
  await withFolder(async (folder) => {
    const path = join(folder, "c.json");
    const { io, services } = engineServices(engine);
    await exportCommand(engine.branch.conversationId, { services, io, flags: { format: "json", output: path } });
    const count = async (): Promise<number> => (await engine.conversations.list({ limit: 9 })).length;
    const load = (given: Parameters<typeof fakeIo>[0], trust = false): Promise<number> =>
      importCommand(path, { services, io: fakeIo(given), flags: { output: "text", quiet: true, trust } });
    const carried =
      /c\.json has code that later requests would run \(2 functions \(f, g\) and 1 class \(A\)\); if you trust the file, add --trust/;
    await assert.rejects(load({ stdin: "" }), carried);
    const terminal = { stdinIsTerminal: true, stderrIsTerminal: true };
    for (const answer of ["", "n", "no", "yeah"]) {
      await assert.rejects(load({ ...terminal, askLine: () => Promise.resolve(answer) }), carried);
    }
    assert.equal(await count(), 1);
    const asked = fakeIo({
      ...terminal,
      askLine: (text) => Promise.resolve(text === "Do you trust it? [y/N] " ? "y" : ""),
    });
    assert.equal(
      await importCommand(path, { services, io: asked, flags: { output: "text", quiet: true, trust: false } }),
      0,
    );
    assert.match(asked.err, /2 functions \(f, g\) and 1 class \(A\)/);
    assert.equal(await load({ stdin: "" }, true), 0);
    assert.equal(await count(), 3);
    const told = fakeIo({ stdin: "" });
    await importCommand(path, { services, io: told, flags: { output: "text", quiet: false, trust: true } });
    assert.match(told.err, /2 functions \(f, g\) and 1 class \(A\)/);
  });
});
