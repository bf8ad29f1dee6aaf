import { fileURLToPath } from "node:url";
import assert from "node:assert/strict";
import { ByteGate } from "../../src/sandbox/host/_call_registry.ts";
import { ChildExit, cleanText } from "../../src/sandbox/host/_child_link.ts";
import { childProgram } from "../../src/sandbox/launch.ts";
import { buildSandbox } from "../helpers/sandbox.ts";

Deno.test("ByteGate lets readers wait while it holds too much, and go all at once", async () => {
  const gate = new ByteGate(100);
  gate.add(99);
  assert.equal(gate.room(), null);
  gate.add(51);
  let gone = 0;
  const waiting = [gate.room(), gate.room()].map((wait) => wait?.then(() => gone++));
  gate.remove(50);
  await Promise.resolve();
  assert.equal(gone, 0, "100 of 100 bytes are no room");
  gate.remove(1);
  await Promise.all(waiting);
  assert.equal(gone, 2);
});

Deno.test("cleanText() leaves no character that commands a terminal, and hides none", () => {
  const all = String.fromCharCode(...Array.from({ length: 0x300 }, (_, i) => i)) + "\u202e\u2066\u2028";
  const clean = cleanText(all);
  for (const char of clean) {
    const code = char.charCodeAt(0);
    assert.ok(code === 9 || code === 10 || (code >= 0x20 && code < 0x7f) || code >= 0xa0, code.toString(16));
    assert.ok(!/[\u202a-\u202e\u2066-\u2069]/.test(char));
  }
  assert.match(clean, /\\u001b/);
  assert.equal(cleanText("a\tb\nä€😀"), "a\tb\nä€😀");
});

const exit = (change: Partial<ConstructorParameters<typeof ChildExit>[0]>) =>
  new ChildExit({ status: { success: false, code: 1, signal: null }, stderr: "", killedFor: null, ...change });
const signalled = (signal: Deno.Signal) => ({ success: false, code: 128, signal });

Deno.test("ChildExit distinguishes memory from other ends", () => {
  const memory = [
    exit({ status: signalled("SIGTRAP") }),
    exit({ status: signalled("SIGABRT"), stderr: "memory allocation of 10 bytes failed" }),
    exit({ stderr: "# Fatal JavaScript out of memory: Reached heap limit" }),
    exit({ stderr: "Deno could not start: unable to create worker threads." }),
  ];
  const others = [
    exit({}),
    exit({ status: signalled("SIGKILL") }),
    exit({ status: signalled("SIGABRT"), stderr: "Deno has panicked. This is a bug" }),
    exit({ status: signalled("SIGTRAP"), killedFor: "Timeout (3s)" }),
  ];
  assert.deepEqual(memory.map(({ outOfMemory }) => outOfMemory), [true, true, true, true]);
  assert.deepEqual(others.map(({ outOfMemory }) => outOfMemory), [false, false, false, false]);
  assert.equal(exit({ killedFor: "Timeout (3s)" }).why, "Timeout (3s)");
  assert.match(exit({ status: signalled("SIGKILL") }).why, /outside/);
  assert.equal(exit({ stderr: "=====\n\nlast words\n" }).why, "exit code 1 (last words)");
});

Deno.test("childProgram() gives the child the reading of its bundles and FFI, and no eval", async () => {
  await buildSandbox();
  const { args } = childProgram({ memoryBytes: 512 << 20, allPermissions: false });
  const allowed = args.filter((arg) => arg.startsWith("--allow"));
  assert.equal(allowed.length, 2);
  assert.match(allowed[0] ?? "", /^--allow-read=.*\/build\/sandbox\/$/);
  assert.equal(allowed[1], "--allow-ffi");
  for (const flag of ["--no-npm", "--no-remote", "--cached-only", "--no-prompt"]) assert.ok(args.includes(flag));
  assert.ok(args.some((arg) => /disallow-code-generation-from-strings.*max-old-space-size=384/.test(arg)));
});

Deno.test("childProgram() names the remedy for missing bundles", async () => {
  const folder = Deno.makeTempDirSync();
  try {
    Deno.mkdirSync(`${folder}/src/sandbox`, { recursive: true });
    Deno.copyFileSync(new URL("../../src/sandbox/launch.ts", import.meta.url), `${folder}/src/sandbox/launch.ts`);
    Deno.symlinkSync(fileURLToPath(new URL("../../src/domain", import.meta.url)), `${folder}/src/domain`);
    const { childProgram: elsewhere } = await import(`file://${folder}/src/sandbox/launch.ts`);
    assert.throws(() => elsewhere({ memoryBytes: 1, allPermissions: false }), /run bin\/deno task build/);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});
