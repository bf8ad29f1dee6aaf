import assert from "node:assert/strict";
import { join } from "node:path";
import { filesOf } from "../architecture/import_graph.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
/** The command line accepts these words for others, or shipped extensions add them. */
const OTHERS = /^(?:login|logout|history|export|resume|memos?|mcp-check|forget)$/;

Deno.test("commands of `vis` in pages exist, with the options that they are shown with", async () => {
  const help = await Deno.readTextFile(join(ROOT, "docs/generated/cli.md"));
  const sections = new Map(
    help.split(/^### /m).slice(1).map((text) => [text.slice(0, text.search(/[|\n]/)).trim(), text]),
  );
  assert.ok(sections.has("vis run"), [...sections.keys()].join());
  const pages = (await filesOf(ROOT, "docs/")).filter((path) => /\.md$/.test(path) && !/\/generated\//.test(path));
  const unknown: string[] = [];
  let seen = 0;
  for (const page of ["README.md", ...pages]) {
    const text = await Deno.readTextFile(join(ROOT, page));
    for (const [, block = ""] of text.matchAll(/^```sh\n([^]*?)^```/gm)) {
      for (const [, words = ""] of block.matchAll(/^(?:\w+=\S* )*vis ((?:[a-z-]+ ?)*[^#|\n]*)/gm)) {
        const [first = "", second = ""] = words.split(" ");
        if (!/^[a-z][a-z-]+$/.test(first) || OTHERS.test(first)) continue;
        const name = [`vis ${first} ${second}`, `vis ${first}`].find((one) => sections.has(one));
        seen++;
        if (name === undefined) unknown.push(`${page}: vis ${words}`);
        const known = sections.get(name ?? "") ?? "";
        for (const [option] of words.replace(/ -- .*|"[^"]*"|'[^']*'/g, "").matchAll(/(?<= )--[a-z][a-z-]*/g)) {
          if (!known.includes(option)) unknown.push(`${page}: ${name} ${option}`);
        }
      }
    }
  }
  assert.ok(seen > 80, "the commands are found");
  assert.deepEqual(unknown, []);
});
