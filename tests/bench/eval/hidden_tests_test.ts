import assert from "node:assert/strict";
import { writeFiles } from "../../../bench/eval/play_task.ts";
import { hiddenTests } from "../../../bench/eval/expect/hidden_tests.ts";
import { withFolder } from "../../helpers/with_folder.ts";

const TEST = `import { one } from "@/one.ts";
same(one, 1);`;

async function verdict(source: string): Promise<string> {
  let said = "";
  await withFolder(async (workspace) => {
    await writeFiles(workspace, { "one.ts": source });
    said = await hiddenTests({}, TEST).check({ answer: "Done.", workspace });
  });
  return said;
}

Deno.test("hiddenTests() refuses code that ends the process, reaches outside the workspace or does not compile", async () => {
  assert.equal(await verdict("export const one = 1;"), "");
  assert.match(await verdict("export const one = 2;"), /found 2, not 1/);
  assert.notEqual(await verdict("Deno.exit(0);\nexport const one = 1;"), "");
  assert.match(
    await verdict(`export const one = Deno.readTextFileSync("/etc/hostname").length * 0 + 1;`),
    /read access/,
  );
  assert.notEqual(await verdict("export const one = ;"), "");
});
