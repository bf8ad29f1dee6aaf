import { readTar } from "../../src/extension/read_tar.ts";
import assert from "node:assert/strict";

function entry(path: string, { text = "", type = "0" } = {}): string {
  const field = (value: string, length: number) => value.padEnd(length, "\0");
  const size = text.length.toString(8).padStart(11, "0");
  const head = field(path, 100) + field("0000644", 8) + field("0", 8) + field("0", 8) + field(size, 12) +
    field("0", 12) + field("", 8) + field(type, 1);
  return field(head, 512) + field(text, Math.ceil(text.length / 512) * 512);
}
const NAMED = { name: "x.tar" };
const archive = (...entries: string[]) => new TextEncoder().encode(entries.join("") + "\0".repeat(1024));

Deno.test("readTar() reads the files, without the folder that contains all of them", async () => {
  const bytes = archive(
    entry("package/", { type: "5" }),
    entry("package/vis.json", { text: "{}" }),
    entry("package/a/b.ts", { text: "x" }),
  );
  const texts = (files: ReadonlyMap<string, Uint8Array>) =>
    [...files].map(([path, content]) => [path, new TextDecoder().decode(content)]);
  assert.deepEqual(texts(await readTar(bytes, NAMED)), [["vis.json", "{}"], ["a/b.ts", "x"]]);
  const zipped = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  assert.deepEqual(texts(await readTar(new Uint8Array(await new Response(zipped).arrayBuffer()), NAMED)), [
    ["vis.json", "{}"],
    ["a/b.ts", "x"],
  ]);
  assert.deepEqual([...(await readTar(archive(entry("vis.json"), entry("b/x")), NAMED)).keys()], ["vis.json", "b/x"]);
});

for (
  const [what, bytes, expected] of [
    ["a path that climbs", archive(entry("../x")), /its path "\.\.\/x" is not a plain relative path/],
    ["an absolute path", archive(entry("/etc/x")), /its path "\/etc\/x" is not a plain relative path/],
    ["a symbolic link", archive(entry("a", { type: "2" })), /a is neither a file nor a folder/],
    ["a hard link", archive(entry("a", { type: "1" })), /a is neither a file nor a folder/],
    ["a device", archive(entry("a", { type: "3" })), /a is neither a file nor a folder/],
    [
      "what is cut off",
      archive(entry("a", { text: "x".repeat(600) })).slice(0, 700),
      /Cannot unpack x\.tar: it ends before the end of a/,
    ],
    ["what is no archive", new TextEncoder().encode("PK\u0003\u0004"), /it is not a tar archive, or it has no files/],
    [
      "a damaged header",
      archive(entry("a").replace(/0{11}/, "x".repeat(11))),
      /it is not a tar archive, or it is damaged/,
    ],
    [
      "damaged gzip data",
      new Uint8Array([0x1f, 0x8b, 1, 2, 3]),
      /^Error: Cannot unpack x\.tar: its gzip data is damaged$/,
    ],
  ] as const
) {
  Deno.test(`readTar() refuses ${what}`, () => assert.rejects(readTar(bytes, NAMED), expected));
}

Deno.test("readTar() refuses an archive that unpacks to more than the limit", async () => {
  const zeros = new Blob([new Uint8Array(1 << 20).fill(1)]);
  const bomb = new Blob(Array.from({ length: 70 }, () => zeros)).stream().pipeThrough(new CompressionStream("gzip"));
  await assert.rejects(
    readTar(new Uint8Array(await new Response(bomb).arrayBuffer()), NAMED),
    /its content is larger than 64 MiB, the limit/,
  );
});
