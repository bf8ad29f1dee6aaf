import assert from "node:assert/strict";
import { filesOf } from "../architecture/import_graph.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/** Phrases that read as translated, each with what people write. */
const PHRASES: Readonly<Record<string, string>> = {
  "\\bgo(?:es)? on\\b": "continue",
  "\\bt(?:akes?|ook) back\\b": "undo",
  "\\bis none (?:in|of)\\b": "not found",
  "\\banew\\b": "again",
  "\\bafresh\\b": "again",
  "\\bby itself\\b": "automatically",
  "\\bin place of\\b": "instead of",
  "\\bthe like\\b": "similar",
  "\\bcomes? on top\\b": "is added",
  "\\bmends?\\b": "fix",
  "\\bwhat holds\\b": "what is guaranteed",
  "\\bwill do\\b": "is enough",
};

/** Texts that people read: documents, and the strings of the program. Decisions and comments are for contributors. */
async function texts(): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>([["README.md", await Deno.readTextFile(`${ROOT}README.md`)]]);
  for (const folder of ["docs/", "src/", "extensions/"]) {
    for (const path of await filesOf(ROOT, folder)) {
      if (/^docs\/decisions\/|\.d\.ts$/.test(path)) continue;
      const text = /\.(?:md|tsx?|html|service)$/.test(path) ? await Deno.readTextFile(`${ROOT}${path}`) : "";
      found.set(path, /\.tsx?$/.test(path) ? stringsOf(text) : text);
    }
  }
  return found;
}

/** Strings and templates of a source, without comments. */
function stringsOf(source: string): string {
  const code = source.replace(/\/\*[^]*?\*\/|^\s*\/\/.*$| \/\/ .*$/gm, "");
  return [...code.matchAll(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g)].map(([text]) => text).join(
    "\n",
  );
}

Deno.test("what people read uses the words that people search for", async () => {
  const all = await texts();
  assert.ok(all.size > 500, "the texts are found");
  const found = [...all].flatMap(([path, text]) =>
    Object.entries(PHRASES).flatMap(([phrase, better]) =>
      [...text.matchAll(new RegExp(`.*${phrase}.*`, "gi"))].map(([line]) =>
        `${path}: ${line.trim().slice(0, 150)} (${better})`
      )
    )
  );
  assert.deepEqual(found, []);
});

Deno.test("stringsOf() reads strings and templates, and no comments", () => {
  const source = "/** goes on */ const a = \"one\"; // goes on\nconst b = `two\n${a}` + 'three';";
  assert.deepEqual(stringsOf(source), "\"one\"\n`two\n${a}`\n'three'");
});
