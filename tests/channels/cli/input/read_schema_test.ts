import assert from "node:assert/strict";
import { join } from "node:path";
import { readImageArgument, readSchema } from "../../../../src/channels/cli/commands/run.ts";
import { UsageError } from "../../../../src/domain/errors.ts";
import { withFolder } from "../../../helpers/with_folder.ts";

async function refused(work: Promise<unknown>, expected: RegExp): Promise<void> {
  await assert.rejects(work, (error) => error instanceof UsageError && expected.test(error.message));
}

Deno.test("readSchema() reads JSON, with a byte order mark or in UTF-16 too, and names a fault", () =>
  withFolder(async (folder) => {
    const path = join(folder, "schema.json");
    await Deno.writeTextFile(path, '\ufeff{"type": "object"}');
    assert.deepEqual(await readSchema(path), { type: "object" });
    const wide = [..."\ufeff{}"].flatMap((char) => [char.charCodeAt(0) & 0xff, char.charCodeAt(0) >> 8]);
    await Deno.writeFile(path, Uint8Array.from(wide));
    assert.deepEqual(await readSchema(path), {});
    await Deno.writeTextFile(path, "{type: 1}");
    await refused(readSchema(path), /Cannot use schema .*schema\.json: it is not JSON \(/);
    await Deno.writeTextFile(path, `"${"x".repeat(4_000_001)}"`);
    await refused(readSchema(path), /it is larger than 4000000 bytes, the limit/);
    await refused(readSchema(join(folder, "none.json")), /Cannot use schema .*none\.json/);
    await refused(readSchema(folder), /Cannot use schema/);
  }));

Deno.test("readImageArgument() reads files by their bytes, and addresses as they are", () =>
  withFolder(async (folder) => {
    const path = join(folder, "picture.txt");
    await Deno.writeTextFile(path, "GIF89a");
    const image = await readImageArgument(path);
    assert.deepEqual(image.kind === "bytes" && [image.mediaType, image.bytes.length], ["image/gif", 6]);
    assert.deepEqual(await readImageArgument("HTTPS://example.org/a"), { kind: "url", url: "HTTPS://example.org/a" });
    await Deno.writeTextFile(path, "text");
    await refused(readImageArgument(path), /picture\.txt: it is not a PNG, JPEG, GIF or WebP image/);
    await refused(readImageArgument(folder), /it is not a file/);
    await refused(readImageArgument(join(folder, "none.png")), /Cannot use image .*none\.png/);
    await Deno.truncate(path, 5_000_001);
    await refused(readImageArgument(path), /5000001 bytes, more than the limit of 5000000/);
  }));
