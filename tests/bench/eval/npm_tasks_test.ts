import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { npmTasks } from "../../../bench/eval/npm_tasks.ts";
import { playTask, writeFiles } from "../../../bench/eval/play_task.ts";
import { SCRIPTED } from "../../../bench/eval/vis_agent.ts";
import { sourceProgram } from "../../../bench/support/programs.ts";
import { withFolder } from "../../helpers/with_folder.ts";

/** A small package with two faults that its test finds, and a third that it does not find, because no test uses
 * `unused`. */
const PACKAGE = {
  "package.json": '{"name": "clamp-small", "version": "1.0.0", "main": "index.js"}',
  "index.js": `// a < b in a comment is no place for a fault
const { isLess } = require("./lib/less.js");
exports.clamp = (value, low, high) => {
  if (isLess(value, low)) return low;
  return isLess(high, value) ? high : value;
};
`,
  "lib/less.js": `exports.isLess = (one, other) => one < other && one !== other;
exports.unused = (one) => one + 1;
`,
  "test/clamp.js": `const assert = require("assert");
const { clamp } = require("../index.js");
const { isLess } = require("../lib/less.js");
assert.deepEqual([clamp(5, 1, 3), clamp(0, 1, 3), clamp(2, 1, 3), isLess(1, 1)], [3, 1, 2, false]);
`,
  "test/broken.js": "throw new Error('it fails without a fault too')\n",
};

function archiveOf(files: Readonly<Record<string, string>>): Uint8Array<ArrayBuffer> {
  const field = (value: string, length: number) => value.padEnd(length, "\0");
  const entries = Object.entries(files).map(([path, text]) => {
    const size = text.length.toString(8).padStart(11, "0");
    const head = field(`package/${path}`, 124) + field(size, 32) + "0";
    return field(head, 512) + field(text, Math.ceil(text.length / 512) * 512);
  });
  return new TextEncoder().encode(entries.join("") + "\0".repeat(1024));
}

async function withRegistry(
  files: Readonly<Record<string, string>>,
  work: (env: { readonly npm_config_registry: string }) => Promise<void>,
): Promise<void> {
  const bytes = archiveOf(files);
  const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
  await using server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, ({ url }) => {
    const { origin, pathname } = new URL(url);
    return pathname.endsWith(".tgz")
      ? new Response(bytes)
      : Response.json({ dist: { tarball: `${origin}/x.tgz`, integrity } });
  });
  await work({ npm_config_registry: `http://127.0.0.1:${server.addr.port}` });
}

Deno.test("bench eval --npm: the same seed plants the same fault, which hidden tests find; a prepared reply solves it", () =>
  withRegistry(PACKAGE, async (env) => {
    await using packages = await npmTasks(["clamp-small@1.0.0"], { seed: 3, env });
    await using again = await npmTasks(["clamp-small@1.0.0"], { seed: 3, env });
    const [task] = packages.tasks;
    assert.ok(task);
    assert.deepEqual([task.id, task.family], ["npm/clamp-small", "npm"]);
    const { files, turns: [turn] } = task.make();
    assert.deepEqual(again.tasks[0]?.make().files, files);
    assert.ok(turn);
    assert.deepEqual(Object.keys(files).sort(), ["index.js", "lib/less.js", "package.json"]);
    const faulty = Object.entries(files).filter(([path, text]) => text !== PACKAGE[path as keyof typeof PACKAGE]);
    assert.equal(faulty.length, 1);
    assert.ok(files["index.js"]?.startsWith("// a < b in a comment"));
    assert.match(turn.request, /The test says:\n\ntest\/clamp\.js\n.*Error/);
    await withFolder(async (workspace) => {
      const verdict = async (outcome: Readonly<Record<string, string>>): Promise<string> => {
        await writeFiles(workspace, { ...files, ...outcome });
        return await turn.expects.check({ answer: "Done.", workspace });
      };
      assert.match(await verdict({}), /^hidden test: test\/clamp\.js/);
      assert.match(await verdict({ "test/clamp.js": "" }), /^hidden test/, "the tests are those of the package");
      assert.equal(await verdict(turn.expects.right.files ?? {}), "");
    });
    const options = { program: await sourceProgram(), provider: SCRIPTED, model: null, timeoutSeconds: 120 };
    const result = await playTask(task, { ...options, format: "json", home: null });
    assert.deepEqual([result.solved, result.reason], [true, ""]);
  }));

Deno.test("bench eval --npm: a package without tests, or whose tests find no fault, is refused", async () => {
  const { "test/clamp.js": test, "test/broken.js": broken, ...untested } = PACKAGE;
  const cases = [
    [untested, /it comes without tests/],
    [{ ...untested, "test/a.js": broken }, /all 1 fail without a fault/],
    [{ ...untested, "test/a.js": test.replace(/^assert.*/m, "") }, /its tests find none of/],
  ] as const;
  for (const [files, message] of cases) {
    await withRegistry(files, async (env) => {
      await assert.rejects(npmTasks(["clamp-small@1.0.0"], { seed: 1, env }), message);
    });
  }
});
