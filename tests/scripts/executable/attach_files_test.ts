import assert from "node:assert/strict";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { attachFiles, joinedFiles } from "../../../scripts/executable/attach_files.ts";
import { PartFiles } from "../../../scripts/executable/part_files.ts";
import { withFolder } from "../../helpers/with_folder.ts";

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** Returns a section that the runtime of an executable reads. It ends with its own length. */
function section(text: string): string {
  const length = new Uint8Array(8);
  new DataView(length.buffer).setBigUint64(0, BigInt(text.length + 8), true);
  return text + textOf(length);
}

const END = section("d3n0l4nd and what is embedded");

async function attachedTo(executable: string, files: Readonly<Record<string, string>>) {
  await Deno.writeTextFile(executable, `the runtime${END}`);
  const joined = joinedFiles(new Map(Object.entries(files).map(([name, text]) => [name, bytesOf(text)])));
  await attachFiles(executable, joined);
  return joined.place;
}

Deno.test("PartFiles reads attached files, and all others next to the program", async () => {
  await withFolder(async (folder) => {
    const executable = join(folder, "vis");
    const attached = await attachedTo(executable, { "b.js": "żółw", "a.cache": "", "toString": "own" });
    const whole = await Deno.readTextFile(executable);
    assert.ok(whole.startsWith("the runtime") && whole.endsWith(END));
    await Deno.writeTextFile(join(folder, "beside.js"), "beside");
    const files = new PartFiles(`${pathToFileURL(folder)}/`, { attached, executable });
    const names = ["b.js", "a.cache", "toString", "beside.js", "b.js"];
    assert.deepEqual(names.map((name) => textOf(files.read(name))), ["żółw", "", "own", "beside", "żółw"]);
    for (const name of ["none.js", "valueOf"]) assert.throws(() => files.read(name), Deno.errors.NotFound);

    await attachedTo(join(folder, "new"), { "b.js": "of another build" });
    await Deno.rename(join(folder, "new"), executable);
    assert.equal(textOf(files.read("b.js")), "żółw", "the one that was started");
    files.close();
    assert.throws(() => new PartFiles(`${pathToFileURL(folder)}/`, { attached, executable }), /it was replaced/);
  });
});

Deno.test("the id of attached files depends on their names and contents", () => {
  const idOf = (name: string, text: string): string => joinedFiles(new Map([[name, bytesOf(text)]])).place.id;
  assert.equal(idOf("a", "b"), idOf("a", "b"));
  assert.notEqual(idOf("a", "b"), idOf("a", "c"));
  assert.notEqual(idOf("a", "b"), idOf("c", "b"));
});

Deno.test("attachFiles() refuses an executable whose runtime reads something else", async () => {
  await withFolder(async (folder) => {
    const executable = join(folder, "vis");
    await Deno.writeTextFile(executable, `the runtime${section("other")}`);
    await assert.rejects(attachFiles(executable, joinedFiles(new Map())), /the data of its runtime is not at its end/);
  });
});
