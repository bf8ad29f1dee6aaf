import assert from "node:assert/strict";
import { join } from "node:path";
import fs from "../../extensions/fs/mod.ts";
import { startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";
import { withFolder } from "../helpers/with_folder.ts";
import { runs } from "../helpers/long_part.ts";

Deno.test("an incomplete list cannot be mistaken for a complete one: the error counts the items", () =>
  withFolder(async (folder) => {
    const workspace = await Deno.realPath(folder);
    await Deno.writeTextFile(join(workspace, "a.txt"), "parse_x\n".repeat(12_345));
    await using engine = await startEngine([
      replyJson("const hits = await fs.grep('parse_')"),
      replyJson([
        "const all = await fs.grep('parse_', {limit: 200000}); all.length",
        "const sites = await fs.count('parse_')",
      ], { final: "{{sites}} of {{all.length}} call sites" }),
    ], { workspace, extensions: [fs] });
    const { answer, confidence } = await engine.ask("How many?");
    assert.match(engine.context(1), /12345 hits in 1 file: .*fs\.count\(pattern, where\).*\{limit: 12345\}/);
    assert.deepEqual([answer, confidence], ["12345 of 12345 call sites", "high"]);
    assert.match(engine.provider.requests[0]?.texts.join("\n") ?? "", /fs\.count\([^]*\{\{sites\}\} call sites/);
  }));

Deno.test("a file of any size is read by lines, piece by piece", () =>
  withFolder(async (folder) => {
    const workspace = await Deno.realPath(folder);
    const count = runs(50_000, 200_000);
    const rows = Array.from({ length: count }, (_, at) => `${at},äöü ${"x".repeat(40)}`);
    await Deno.writeTextFile(join(workspace, "big.csv"), rows.join("\r\n"));
    await Deno.writeTextFile(join(workspace, "empty.csv"), "");
    await using engine = await startEngine([
      replyJson([
        `let sum = 0, pieces = 0;
        for (let at = 0; at !== null; pieces++) {
          const part = await fs.readLines("big.csv", {at});
          for (const line of part.lines) if (line.endsWith("x")) sum += Number(line.split(",")[0]);
          at = part.next;
        }
        [sum, pieces > ${count / 10_500}].join()`,
        'JSON.stringify([await fs.readLines("empty.csv"), await fs.count(".*", "big.csv")])',
        'const two = await fs.readLines("big.csv", {count: 2}); two.lines.map(one => one.length).join() + two.next',
        'await fs.readLines("big.csv", {at: 1e9})',
      ]),
      replyJson([], { final: "It is read." }),
    ], { workspace, extensions: [fs] });
    await engine.ask("Read it");
    const shown = engine.context(1);
    assert.ok(shown.includes(`${count * (count - 1) / 2},true`), shown);
    assert.ok(shown.includes(`{\\"lines\\":[],\\"next\\":null},${count}]`), shown);
    assert.match(shown, /46,46102/);
    assert.match(shown, /Cannot read big.csv from byte 1000000000: the file has \d+ bytes/);
  }));
