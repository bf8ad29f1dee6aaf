import assert from "node:assert/strict";
import { join } from "node:path";
import { Libc } from "../../../src/sandbox/confine/libc.ts";
import { MountFault, Mounts } from "../../../src/sandbox/exec/mounts.ts";
import { withFolder } from "../../helpers/with_folder.ts";

const ignore = Deno.build.os !== "linux";

Deno.test(
  "Mounts.makePlace() takes a path that exists, whatever the runtime has made of errno",
  { ignore },
  async () => {
    await withFolder(async (folder) => {
      const libc = Object.assign(new Libc(), { errno: () => 2 });
      const mounts = new Mounts(libc);
      const [made, file] = [join(folder, "a/b"), join(folder, "a/c")];
      for (let times = 0; times < 2; times++) {
        mounts.makePlace(made, true);
        mounts.makePlace(file, false);
        mounts.link(join(folder, "link"), "/no/such/place");
      }
      assert.ok((await Deno.stat(made)).isDirectory);
      assert.ok((await Deno.stat(file)).isFile);
      assert.throws(() => mounts.makePlace(join(file, "below"), true), MountFault);
      libc.close();
    });
  },
);
