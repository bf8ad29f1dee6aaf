import assert from "node:assert/strict";
import { PathMap } from "../../../src/domain/records/path_map.ts";

const map = new PathMap([["/home/u/my.proj (1)", "/tmp/a-copy/$& x"], ["/home/u/.vis", "/tmp/own"]]);

Deno.test("PathMap moves whole paths, alone and with what is below them", () => {
  for (
    const [recorded, played] of [
      ["/home/u/my.proj (1)", "/tmp/a-copy/$& x"],
      ['fs.readFile("/home/u/my.proj (1)/a.ts")', 'fs.readFile("/tmp/a-copy/$& x/a.ts")'],
      ["file:///home/u/my.proj (1)/a", "file:///tmp/a-copy/$& x/a"],
      ["In /home/u/my.proj (1). And /home/u/.vis/memo.", "In /tmp/a-copy/$& x. And /tmp/own/memo."],
      ["/home/u/my.proj (1):/home/u/my.proj (1)", "/tmp/a-copy/$& x:/tmp/a-copy/$& x"],
    ]
  ) {
    assert.equal(map.toPlayed(recorded ?? ""), played);
    assert.equal(map.toRecorded(played ?? ""), recorded);
  }
});

Deno.test("PathMap leaves other paths alone", () => {
  for (
    const text of [
      "/home/u/my.proj (1)-old/a",
      "/home/u/my.proj (1).bak",
      "/home/u/my.proj (1)é",
      "/mnt/home/u/my.proj (1)",
      "/home/u/my-proj (1)",
      "../home/u/.vis",
      "",
    ]
  ) assert.equal(map.toPlayed(text), text);
});

Deno.test("PathMap of nothing, of the same folder and of the root changes nothing", () => {
  for (const pairs of [[], [["/a", "/a"]], [["/", "/tmp/x"]], [["", "/tmp/x"]], [["/a", ""]]] as const) {
    assert.equal(new PathMap(pairs).toPlayed("/a/b /tmp/x"), "/a/b /tmp/x");
    assert.equal(new PathMap(pairs).toRecorded("/a/b /tmp/x"), "/a/b /tmp/x");
  }
});
