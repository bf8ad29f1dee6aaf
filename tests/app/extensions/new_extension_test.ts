import assert from "node:assert/strict";
import { EXTENSION_TYPES, typesHeading } from "../../../scripts/generate/extension_types.ts";
import { newExtension } from "../../../src/app/extensions/check_extensions.ts";
import { withFolder } from "../../helpers/with_folder.ts";

async function typeCheck(folder: string): Promise<{ readonly code: number; readonly stderr: string }> {
  const command = new Deno.Command(Deno.execPath(), {
    args: ["check", "--quiet", "mod.ts", "mod_test.ts"],
    cwd: folder,
    env: { NO_COLOR: "1" },
  });
  const { code, stderr } = await command.output();
  return { code, stderr: new TextDecoder().decode(stderr) };
}

Deno.test("docs/generated/vis-extension.d.ts is made of the current sources: deno task gen renews it", async () => {
  const text = await Deno.readTextFile(new URL(`../../../${EXTENSION_TYPES}`, import.meta.url));
  assert.ok(text.startsWith(await typesHeading()));
  for (const name of ["function fn", "function defineExtension", "interface Extension ", "class Semaphore"]) {
    assert.ok(text.includes(`export declare ${name}`) || text.includes(`export ${name}`), name);
  }
});

Deno.test("newExtension() writes files with which an editor knows the types, without any set-up", () =>
  withFolder(async (folder) => {
    const made = await newExtension(`${folder}/greet`);
    const text = await Deno.readTextFile(`${made}/mod.ts`);
    await Deno.writeTextFile(
      `${made}/mod.ts`,
      text.replace("(_env, who", "(env, who").replace("Hello", "${env.wrong}"),
    );
    const { code, stderr } = await typeCheck(made);
    assert.equal(code, 1);
    assert.match(stderr, /Property 'wrong' does not exist on type 'EnvironmentView'/);
    assert.equal(stderr.match(/\bTS\d+ /g)?.length, 1, stderr);
  }));
