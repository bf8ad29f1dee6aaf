import assert from "node:assert/strict";
import { withFolder } from "../helpers/with_folder.ts";
import { mayMake, missing } from "./_place.ts";
import { wallProcess } from "./_wall_process.ts";

const CODE = `
const [workspace] = Deno.args;
const { stdout, notes } = await wall.spawn(workspace, ["/bin/sh", "-c", "echo ran; sleep 60 &"], { loopback: "one" });
const { unix } = await wall.walls();
console.log(JSON.stringify({ stdout, notes, unix }));
`;

Deno.test({
  name: `spawn() needs no permission that the program does not have${missing && ` (${missing})`}`,
  ignore: missing !== "",
  fn: () =>
    withFolder(async (workspace) => {
      const child = await wallProcess(CODE, [workspace]);
      const { stdout, stderr } = await child.output();
      const said = new TextDecoder().decode(stdout);
      assert.notEqual(said, "", new TextDecoder().decode(stderr));
      const { stdout: ran, notes, unix } = JSON.parse(said);
      assert.equal(ran, "ran\n");
      assert.deepEqual(notes, ["Vis ended processes that were left running"]);
      assert.equal(unix, mayMake);
    }),
});
