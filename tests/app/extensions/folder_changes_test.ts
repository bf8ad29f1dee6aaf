import assert from "node:assert/strict";
import { folderChanges } from "../../../src/app/extensions/extension_admin.ts";
import { withFolder } from "../../helpers/with_folder.ts";

Deno.test("folderChanges() gives the turn after files were changed, also in folders below, and ends when it is left", () =>
  withFolder(async (folder) => {
    await Deno.mkdir(`${folder}/below`);
    const changes = folderChanges(folder);
    for (const path of ["one.ts", "below/two.ts"]) {
      const next = changes.next();
      await Deno.writeTextFile(`${folder}/${path}`, "1");
      await Deno.writeTextFile(`${folder}/${path}`, "2");
      assert.deepEqual(await next, { done: false, value: undefined });
    }
    await changes.return(undefined);
  }));
