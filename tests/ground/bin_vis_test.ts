import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SANDBOX_ENTRIES } from "../../scripts/bundle.ts";
import { PERMISSIONS, V8_FLAGS } from "../../scripts/flags.ts";
import { Program } from "./_program.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

Deno.test("bin/vis sets up once, reports it on stderr, and keeps stdout for the program", async () => {
  await using program = await Program.make();
  const first = await program.run("bin/vis", { args: ["a b", "--flag"], input: "typed" });
  assert.equal(first.stderr, "vis: setting up (once, about half a minute)\n");
  const { args, generated, input, main } = JSON.parse(first.stdout);
  assert.deepEqual({ args, generated, input, main }, {
    args: ["a b", "--flag"],
    generated: "refused",
    input: "typed",
    main: true,
  });
  const second = await program.run("bin/vis", { cwd: "/" });
  assert.deepEqual([second.code, second.stderr], [0, ""]);
});

Deno.test("bin/vis reports that the current folder was deleted", async () => {
  await using program = await Program.make();
  const script = 'mkdir gone && cd gone && rmdir ../gone && exec "$0/bin/vis"';
  const { code, stdout, stderr } = await program.run("/bin/sh", { args: ["-c", script, program.root] });
  assert.deepEqual([code, stdout], [2, ""], stderr);
  assert.match(stderr, /vis: Cannot start: the current folder is no longer there; change to another one \(cd\)\n$/);
});

Deno.test("bin/vis builds again when a source changed, came or went, and not otherwise", async () => {
  await using program = await Program.make();
  const bundle = join(program.root, "build/sandbox/worker.js");
  await program.run("bin/vis");
  assert.match(await Deno.readTextFile(bundle), /first/);
  await program.write("src/sandbox/child/word.ts", 'export const word = "second";\n');
  assert.equal((await program.run("bin/vis")).stderr, "vis: building the sandbox\n");
  assert.match(await Deno.readTextFile(bundle), /second/);
  await program.write("src/query/elsewhere.ts", "export {};\n");
  assert.equal((await program.run("bin/vis")).stderr, "");
  await Deno.remove(join(program.root, "src/domain/one.ts"));
  assert.equal((await program.run("bin/vis")).stderr, "vis: building the sandbox\n");
  await Deno.remove(bundle);
  assert.equal((await program.run("bin/vis")).stderr, "vis: building the sandbox\n");
  assert.equal((await program.run("bin/vis")).stderr, "");
});

Deno.test("bin/vis works when several set up at once", async () => {
  await using program = await Program.make();
  const ran = await Promise.all([1, 2, 3].map((at) => program.run("bin/vis", { args: [String(at)] })));
  assert.deepEqual(ran.map(({ code }) => code), [0, 0, 0], ran.map(({ stderr }) => stderr).join());
  const left = await Array.fromAsync(Deno.readDir(join(program.root, "build")), ({ name }) => name);
  assert.deepEqual(left.sort(), [".lock", "code_cache", "page", "sandbox"]);
});

Deno.test("bin/vis names the file that cannot be built, and tries again the next time", async () => {
  await using program = await Program.make();
  await program.write("src/sandbox/child/word.ts", "export const word = ;\n");
  const broken = await program.run("bin/vis");
  assert.deepEqual([broken.code, broken.stdout], [1, ""]);
  assert.match(broken.stderr, /Cannot bundle src\/sandbox\/child\/worker\.ts: /);
  assert.doesNotMatch(broken.stderr, /backtrace/i);
  await program.write("src/sandbox/child/word.ts", 'export const word = "mended";\n');
  assert.equal((await program.run("bin/vis")).code, 0);
});

Deno.test("bin/vis and the scripts name the same flags and files", async () => {
  const script = await Deno.readTextFile(join(ROOT, "bin/vis"));
  for (const flag of [...PERMISSIONS, ...V8_FLAGS, ...Object.keys(SANDBOX_ENTRIES)]) {
    assert.ok(script.includes(flag), flag);
  }
});

Deno.test("bin/vis looks at every file that goes into the bundles", async () => {
  const script = await Deno.readTextFile(join(ROOT, "bin/vis"));
  const watched = /find (.+) -newer/.exec(script)![1]!.split(" ");
  for (const entry of Object.values(SANDBOX_ENTRIES)) {
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["info", "--json", "--no-lock", entry],
      cwd: ROOT,
    }).output();
    const { modules } = JSON.parse(new TextDecoder().decode(stdout)) as { modules: { local?: string }[] };
    const own = modules.flatMap(({ local }) => local?.startsWith(ROOT) ? [local.slice(ROOT.length)] : []);
    assert.ok(own.includes(entry));
    for (const path of own) assert.ok(watched.some((one) => path === one || path.startsWith(`${one}/`)), path);
  }
});
