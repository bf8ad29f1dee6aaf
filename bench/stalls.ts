import { join } from "node:path";
import fs from "../extensions/fs/mod.ts";
import { pageMarkdown } from "../extensions/web/page_markdown.ts";
import { JsonTooLarge, readForeignJson } from "../src/domain/kit/json.ts";
import { testExtension } from "../src/extension/testing.ts";
import { parseReply } from "../src/prompt/reply/parse_reply.ts";
import type { Figure } from "./support/figure.ts";

const RUNS = 5;
const DIVS = "<div>".repeat(700_000);
const LINES = "\n".repeat(15_000_000);
const WRONG = Array(190_000).fill(1);
const PATTERNS = Array.from({ length: 100_000 }, (_, at) => `p${at}*`);
const EDITS = Array.from({ length: 90_000 }, () => ({}));
const ARRAYS = `[${"[],".repeat(4_000_000)}[]]`;
const BLOCKS = JSON.stringify({ thinking: "", code: Array(100_000).fill({ expr: "1 + 1" }) });

export async function stalls(): Promise<readonly Figure[]> {
  const workspace = await Deno.makeTempDir();
  const { call } = await testExtension(fs, { env: { workspace } });
  const deep = Array(190).fill("d").join("/");
  const url = new URL("https://example.org/");
  const works: Readonly<Record<string, () => unknown>> = {
    "a file 190 folders deep": () => call("fs.writeFile", `${deep}/a.txt`, "a"),
    "removal of these folders": () => call("fs.remove", "d", { recursive: true }),
    "a path of 1,000 folders": () => call("fs.stat", Array(1_000).fill("d").join("/")).catch(() => {}),
    "a file of 15 million lines": () => call("fs.writeFile", "lines.txt", LINES),
    "a list of 190,000 wrong paths": () => call("fs.readFiles", WRONG).catch(() => {}),
    "100,000 patterns": () => call("fs.glob", PATTERNS).catch(() => {}),
    "90,000 empty edits": () => call("fs.edit", EDITS).catch(() => {}),
    "web.readable of 700,000 divs": () => pageMarkdown(DIVS, { url, maxChars: 400_000, signal: undefined }),
    "a reply of 100,000 blocks": () => parseReply(BLOCKS),
    "JSON of 4 million lists": () => refused(ARRAYS),
  };
  const samples = new Map(Object.keys(works).map((what) => [what, [] as number[]]));
  for (let run = 0; run < RUNS; run++) {
    for (const [what, work] of Object.entries(works)) samples.get(what)?.push(await longestStall(work));
  }
  await Deno.remove(join(workspace), { recursive: true });
  return [...samples].map(([what, found]) => ({ what, way: "part", unit: "ms", samples: found, bar: 100 }));
}

function refused(text: string): void {
  try {
    readForeignJson(text);
  } catch (error) {
    if (!(error instanceof JsonTooLarge)) throw error;
  }
}

async function longestStall(work: () => unknown): Promise<number> {
  let last = performance.now(), longest = 0;
  const look = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const timer = setInterval(look, 1);
  await work();
  await new Promise((resolve) => setTimeout(resolve, 2));
  look();
  clearInterval(timer);
  return longest;
}
