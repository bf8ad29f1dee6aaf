import assert from "node:assert/strict";
import { join } from "node:path";
import { endFirstChild, keepFirstChild, startChild, takeFirstChild } from "../../../src/sandbox/launch.ts";
import { withFolder } from "../../helpers/with_folder.ts";

const started = (folder: string): Deno.ChildProcess => startChild({ path: "/bin/cat", args: [] }, folder);

async function close({ stdin, stdout, stderr, status }: Deno.ChildProcess): Promise<Deno.CommandStatus> {
  await Promise.all([stdin.abort(), stdout.cancel(), stderr.cancel()]);
  return await status;
}

Deno.test("the first child is taken once, and is then its taker's", async () => {
  await withFolder(async (folder) => {
    assert.equal(takeFirstChild(), null);
    const process = started(folder);
    keepFirstChild({ process, folder });
    assert.deepEqual(takeFirstChild(), { process, folder });
    assert.equal(takeFirstChild(), null);
    endFirstChild();
    assert.ok((await Deno.stat(folder)).isDirectory);
    assert.equal((await close(process)).signal, null);
  });
});

Deno.test("endFirstChild() kills an unused child, and removes its folder", async () => {
  await withFolder(async (parent) => {
    const folder = join(parent, "own");
    await Deno.mkdir(folder);
    const process = started(folder);
    keepFirstChild({ process, folder });
    endFirstChild();
    assert.equal((await close(process)).signal, "SIGKILL");
    await assert.rejects(Deno.stat(folder), Deno.errors.NotFound);
    assert.equal(takeFirstChild(), null);
  });
});
