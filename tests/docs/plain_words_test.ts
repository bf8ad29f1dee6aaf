import assert from "node:assert/strict";
import { filesOf } from "../architecture/import_graph.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/** Maps phrases that read as translated to the usual words. */
const PHRASES: Readonly<Record<string, string>> = {
  "<{7} HEAD\\b|>{7} [0-9a-f]{7}": "one of the two texts of a conflict",
  "\\bgo(?:es)? on\\b": "continue",
  "\\bt(?:akes?|ook|aken) back\\b": "undo",
  "\\b(?:is|are|was) none (?:in|of)\\b": "not found",
  "(?<!\\bthere\\s+)\\b(?:is|are|was)\\s+no (?!longer|more)[a-z]": "is not a",
  "\\bkey that is none\\b": "unknown key",
  "\\banew\\b": "again",
  "\\bafresh\\b": "again",
  "\\bby itself\\b": "automatically",
  "\\bin place of\\b": "instead of",
  "\\bthe like\\b|\\band its like\\b": "similar",
  "\\bcomes? on top\\b": "is added",
  "\\bmends?\\b": "fix",
  "\\bwhat holds\\b": "what is guaranteed",
  "\\bwill do\\b": "is enough",
  "\\b(?:is|are|was) \\S+ meant\\b|\\bwas probably meant\\b": "did you mean",
  "\\bthere is no such (?:key|command|extension|model)\\b": "unknown",
  "\\bThere is no /": "Unknown command",
  "\\bit takes (?:integer|number|string|boolean|list)\\b": "must be",
  "\\bit says: ": "the server replied",
  "\\bon a screen of its own\\b": "interactive mode",
  "\\bplays? the model's part\\b": "scripted replies",
  "\\buseful from the first day\\b": "everyday commands",
  "\\bwho says so\\b": "where it was set",
  "\\bmind that\\b": "review",
  "\\bs(?:ome|omebod)y else\\b": "others",
  "\\bstands below\\b": "is appended",
  "\\basks for itself\\b": "its own choice",
  "\\bmay be given again\\b": "repeatable",
  "\\bcare of the\\b": "maintenance",
  "\\bto begin with\\b": "first",
  "\\bcomes out otherwise\\b": "differs",
  "\\bnewest so many\\b": "at most N",
  "\\bthere is no change to\\b": "nothing to",
  "\\bwas logged that fits\\b": "no matching log entries",
  "\\b1 queries\\b": "1 request",
  "\\bwhen you like\\b": "safe to",
  "\\bdid not end well\\b": "failed",
  "\\bwhat nobody has read yet\\b": "a queued message",
  "\\btwice: leave\\b|\\bagain leaves\\b": "quit",
  "\\bor their beginnings\\b": "shortened",
  "\\bwhile it worked\\b": "while running",
  "\\bshows what there is\\b|\\blists what there is\\b": "lists",
  "\\bis to be done\\b": "should do",
  "\\bTell it more\\b": "Add instructions",
  "\\bcame about\\b": "were made",
  "\\bnatural size\\b": "100 %",
  "\\b(?:line|connection) was lost; it\\b": "Connection lost",
  "\\bof it (?:cached|reasoning)\\b": "cached, reasoning",
  "\\bmay do what one\\b": "includes",
  "\\bIt was not done\\b": "Error",
  "\\bis another\\b(?! [a-z])": "differs",
  "\\bone's own\\b": "your own",
  "\\bchild quer(?:y|ies)\\b": "sub-query",
  "\\bwall of commands\\b|\\bwall around programs\\b": "command wall",
  "\\bservers? of MCP\\b": "MCP server",
  "\\bcan(?:not)? be had\\b": "is available",
  "\\bas good as\\b": "like",
  "\\bso many\\b": "a number",
  "\\bsays so\\b": "reports this",
  "\\bwhoever\\b": "a person who",
  "\\bat hand\\b": "available",
  "\\b(?:commands|servers|extensions|keys|prompts|names|tables) of (?:yours|theirs|its own)\\b":
    "your own, their own, its own",
};

/** Returns the texts that people read: documents, and the strings of the program. Decisions and comments are for
 * contributors. */
async function texts(): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const path of ["README.md", "CHANGELOG.md"]) found.set(path, await Deno.readTextFile(`${ROOT}${path}`));
  for (const folder of ["docs/", "src/", "extensions/"]) {
    for (const path of await filesOf(ROOT, folder)) {
      if (/^docs\/decisions\/|\.d\.ts$/.test(path)) continue;
      const text = /\.(?:md|tsx?|html|service)$/.test(path) ? await Deno.readTextFile(`${ROOT}${path}`) : "";
      found.set(path, /\.tsx?$/.test(path) ? stringsOf(text) : text);
    }
  }
  return found;
}

function stringsOf(source: string): string {
  const code = source.replace(/\/\*[^]*?\*\/|^\s*\/\/.*$| \/\/ .*$/gm, "");
  return [...code.matchAll(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g)].map(([text]) => text).join(
    "\n",
  );
}

function lineAt(text: string, index: number): string {
  const end = text.indexOf("\n", index);
  return text.slice(text.lastIndexOf("\n", index) + 1, end < 0 ? text.length : end);
}

Deno.test("texts for people use the words that people search for", async () => {
  const all = await texts();
  assert.ok(all.size > 500, "the texts are found");
  const found = [...all].flatMap(([path, text]) =>
    Object.entries(PHRASES).flatMap(([phrase, better]) =>
      [...text.matchAll(new RegExp(phrase, "gi"))].map(({ index }) =>
        `${path}: ${lineAt(text, index).trim().slice(0, 150)} (${better})`
      )
    )
  );
  assert.deepEqual(found, []);
});

Deno.test("stringsOf() reads strings and templates, and no comments", () => {
  const source = "/** goes on */ const a = \"one\"; // goes on\nconst b = `two\n${a}` + 'three';";
  assert.deepEqual(stringsOf(source), "\"one\"\n`two\n${a}`\n'three'");
});
