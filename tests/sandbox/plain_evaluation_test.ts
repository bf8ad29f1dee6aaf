/** Runs the same program as one module in plain Deno and as blocks in a real child. */
import assert from "node:assert/strict";
import { join } from "node:path";
import fc from "fast-check";
import { decode } from "../../src/sandbox/codec/codec.ts";
import { testSandbox } from "../helpers/sandbox.ts";
import { MAKERS } from "./program_makers.ts";
import { type Program, programs } from "./programs.ts";
import { runs } from "../helpers/long_part.ts";

/** Every maker occurs alone and after another, so that each is seen. */
const each: readonly Program[] = MAKERS.map((maker, i) => {
  const statements = [maker([], "v0", i), maker(["v0"], "v1", i + 1)];
  return { names: ["v0", "v1"], statements, blocks: statements };
});

/** Returns the values of the programs as modules, in order; an error's text if one throws. */
async function plainly(all: readonly Program[]): Promise<unknown[]> {
  const folder = await Deno.makeTempDir({ prefix: "vis-plain-" });
  try {
    await Promise.all(
      all.map(({ names, statements }, i) =>
        Deno.writeTextFile(
          join(folder, `p${i}.ts`),
          `${statements.join("\n")}\n;export default [${names.join(", ")}]\n`,
        )
      ),
    );
    const main = `const out: unknown[] = [];
      for (let i = 0; i < ${all.length}; i++) {
        try { out.push((await import(\`./p\${i}.ts\`)).default) } catch (error) { out.push(String(error)) }
      }
      console.log(JSON.stringify(out));`;
    await Deno.writeTextFile(join(folder, "main.ts"), main);
    const { stdout, stderr, success } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-config", "--no-lock", `--allow-read=${folder}`, join(folder, "main.ts")],
    }).output();
    assert.ok(success, new TextDecoder().decode(stderr));
    return JSON.parse(new TextDecoder().decode(stdout));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("run() blocks have the same values as the program in a module", async () => {
  const all = [...each, ...fc.sample(programs(MAKERS, 14), runs(40, 150))];
  const expected = await plainly(all);
  await using box = await testSandbox();
  for (const [i, { names, blocks }] of all.entries()) {
    const text = blocks.join("\n// ---\n");
    const saved: string[] = [];
    for (const block of blocks) {
      const report = await box.run(block);
      assert.equal(report.result.error, null, `${text}\n${report.result.error?.message}`);
      saved.push(...report.saved.map(({ name }) => name));
    }
    const { value, result } = await box.run(`[${names.join(", ")}]`);
    assert.ok(value, `${text}\n${result.error?.message}`);
    assert.deepEqual(JSON.parse(JSON.stringify(decode(value))), expected[i], text);
    assert.deepEqual(names.filter((name) => !saved.includes(name)), [], text);
    await box.sandbox.forget([...new Set(saved)]);
  }
});
