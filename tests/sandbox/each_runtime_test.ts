/** Each runtime must pass these tests again, with children of the executable. They test grants, the kernel's walls, and
 * the data that the runtime passes to functions that a block replaced. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { compiledProgram } from "../helpers/compiled_program.ts";

const { path, missing, ready } = await compiledProgram();

for (const file of ["grants_test.ts", "grants_alone_test.ts", "intrinsics_test.ts", "confine/kernel_wall_test.ts"]) {
  Deno.test({
    name: `the executable's children pass ${file}${missing ? ` (${missing})` : ""}`,
    ignore: missing !== "" || Deno.build.os !== "linux",
    async fn() {
      await ready();
      const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args: ["test", "-A", "--no-check", fileURLToPath(new URL(file, import.meta.url))],
        cwd: fileURLToPath(new URL("../../", import.meta.url)),
        env: { VIS_TEST_CHILD: path },
      }).output();
      const text = new TextDecoder();
      assert.equal(code, 0, text.decode(stdout) + text.decode(stderr));
    },
  });
}
