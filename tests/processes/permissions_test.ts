import assert from "node:assert/strict";
import { join } from "node:path";
import { PERMISSIONS, V8_FLAGS } from "../../scripts/flags.ts";
import { ROOT } from "../../scripts/_project.ts";
import { mayMake, missing } from "./_place.ts";

const PROGRAM = `
import { ProcessWall } from "./src/processes/process_wall.ts";
const [workspace] = Deno.args;
const wall = new ProcessWall({ private: { home: null, visHome: null }, read: [], network: false, env: {} });
const { stdout, notes } = await wall.spawn(workspace, ["/bin/sh", "-c", "echo ran; sleep 60 &"], { loopback: "one" });
const { unix } = await wall.walls();
console.log(JSON.stringify({ stdout, notes, unix }));
`;

Deno.test({
  name: `spawn() needs no permission that the program does not have${missing && ` (${missing})`}`,
  ignore: missing !== "",
  fn: async () => {
    const workspace = await Deno.makeTempDir({ prefix: "vis-permissions-" });
    try {
      const child = new Deno.Command(Deno.execPath(), {
        args: [
          ...["run", "--quiet", "--no-prompt", "--no-lock", "--config", join(ROOT, "deno.json"), "--ext=ts"],
          ...[...PERMISSIONS, `--v8-flags=${V8_FLAGS.join(",")}`, "-", workspace],
        ],
        cwd: ROOT,
        stdin: "piped",
        stdout: "piped",
        stderr: "piped",
      }).spawn();
      const writer = child.stdin.getWriter();
      await writer.write(new TextEncoder().encode(PROGRAM));
      await writer.close();
      const { stdout, stderr } = await child.output();
      const said = new TextDecoder().decode(stdout);
      assert.notEqual(said, "", new TextDecoder().decode(stderr));
      const { stdout: ran, notes, unix } = JSON.parse(said);
      assert.equal(ran, "ran\n");
      assert.deepEqual(notes, ["Processes that were left running were ended"]);
      assert.equal(unix, mayMake);
    } finally {
      await Deno.remove(workspace, { recursive: true });
    }
  },
});
