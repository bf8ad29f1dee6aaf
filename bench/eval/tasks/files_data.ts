import { type AgentTask, task } from "../agent_task.ts";
import { json, list, number } from "../expect/answers.ts";
import { all, file, jsonFile } from "../expect/workspace.ts";
import { seeded } from "../seeded.ts";

const DIARY =
  "2026-01-30 Snow.\n2026-02-02 Thaw.\n2026-01-31 More snow.\n2026-03-09 First bees.\n2026-02-27 Rain all day.\n";
const CITIES = ["Turin", "Graz", "Ghent", "Porto", "Malmö"] as const;

function orders(seed: number, count: number) {
  const random = seeded(seed);
  return Array.from({ length: count }, (_, at) => ({
    id: at + 1,
    city: random.pick(CITIES),
    cents: 100 + random.below(20_000),
    note: random.next() < 0.2 ? `left at door, "blue" one` : "",
  }));
}

function csvOf(rows: ReturnType<typeof orders>): string {
  const quoted = (note: string): string => note === "" ? "" : `"${note.replaceAll('"', '""')}"`;
  return ["id,city,note,cents", ...rows.map(({ id, city, note, cents }) => `${id},${city},${quoted(note)},${cents}`)]
    .join("\n");
}

export const DATA_TASKS: readonly AgentTask[] = [
  task("files/csv-totals", () => {
    const rows = orders(21, 500);
    const totals = Object.fromEntries(CITIES.map((city) => [
      city,
      rows.filter((row) => row.city === city).reduce((sum, { cents }) => sum + cents, 0),
    ]));
    return {
      files: { "orders.csv": csvOf(rows) },
      request:
        "orders.csv has orders; notes may be quoted and hold commas. Write totals.json: an object from each city to the sum of its cents.",
      expects: jsonFile("totals.json", totals),
      wrong: ["Done.", { answer: "Done.", files: { "totals.json": JSON.stringify({ ...totals, Graz: 0 }) } }],
      script: `const lines = (await fs.readFile("orders.csv")).split("\\n").slice(1)
const totals = {}
for (const line of lines) {
  const [, city] = line.split(",")
  totals[city] = (totals[city] ?? 0) + Number(line.slice(line.lastIndexOf(",") + 1))
}
await fs.writeFile("totals.json", JSON.stringify(totals))
await answer("Wrote totals.json.")`,
    };
  }),
  task("files/duplicates", () => {
    const random = seeded(22);
    const files: Record<string, string> = {};
    for (let at = 0; at < 40; at++) files[`notes/n${at}.txt`] = `Note ${random.below(1e6)}\nof page ${at}\n`;
    files["notes/copy.txt"] = files["notes/n7.txt"] ?? "";
    files["archive/old.txt"] = files["notes/n23.txt"] ?? "";
    return {
      files,
      request:
        "Some files under notes and archive have the same contents. Answer with all paths that have a twin, in alphabetical order, one per line.",
      expects: list(["archive/old.txt", "notes/copy.txt", "notes/n23.txt", "notes/n7.txt"], { anyOrder: true }),
      wrong: ["notes/copy.txt\nnotes/n7.txt", "There are none"],
      script: [
        `const files = await fs.readFiles(["notes/*.txt", "archive/*.txt"])
files.length`,
        `const twins = [...Map.groupBy(files, ({ text }) => text).values()].filter(({ length }) => length > 1).flat()
await answer(twins.map(({ path }) => path).sort().join("\\n"))`,
      ],
    };
  }),
  task("files/dead-links", () => ({
    files: {
      "docs/index.md": "# Manual\n\nSee [install](install.md), [usage](usage.md#first) and [faq](faq.md).\n",
      "docs/install.md": "# Install\n\nBack to [the manual](index.md). Then [deploy](ops/deploy.md).\n",
      "docs/usage.md": "# Usage\n\nRead [the API](api/reference.md) or [install](./install.md).\n",
      "docs/ops/deploy.md": "# Deploy\n\nFirst [install](../install.md), later [monitor](monitor.md).\n",
    },
    request:
      "Which relative links in the Markdown files under docs lead to files that do not exist? Answer with the missing paths from the workspace's root, sorted, one per line.",
    expects: list(["docs/api/reference.md", "docs/faq.md", "docs/ops/monitor.md"], { anyOrder: true }),
    wrong: ["api/reference.md\nfaq.md\nmonitor.md", "docs/faq.md\ndocs/ops/monitor.md"],
    script: `const files = await fs.readFiles("docs/**/*.md")
const there = new Set(files.map(({ path }) => path)), missing = new Set()
for (const { path, text } of files) for (const [, link] of text.matchAll(/\\]\\(([^)#]+)/g)) {
  const parts = path.split("/").slice(0, -1)
  for (const part of link.split("/")) {
    if (part === "..") parts.pop()
    else if (part !== ".") parts.push(part)
  }
  if (!there.has(parts.join("/"))) missing.add(parts.join("/"))
}
await answer([...missing].sort().join("\\n"))`,
  })),
  task("files/merge-config", () => ({
    files: {
      "base.json": JSON.stringify({ port: 80, log: { level: "info", file: "a.log" }, tags: ["x"], debug: false }),
      "local.json": JSON.stringify({ port: 8080, log: { level: "debug" }, tags: ["y"], debug: null }),
    },
    request:
      "Merge local.json over base.json into merged.json: objects key by key at every depth, everything else replaced, and a null in local.json removes the key.",
    expects: jsonFile("merged.json", { port: 8080, log: { level: "debug", file: "a.log" }, tags: ["y"] }),
    wrong: [{
      answer: "Done.",
      files: { "merged.json": JSON.stringify({ port: 8080, log: { level: "debug" }, tags: ["y"], debug: null }) },
    }],
    script: `const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value)
function merge(base, over) {
  const result = { ...base }
  for (const [key, value] of Object.entries(over)) {
    if (value === null) delete result[key]
    else result[key] = isObject(value) && isObject(base[key]) ? merge(base[key], value) : value
  }
  return result
}
const merged = merge(JSON.parse(await fs.readFile("base.json")), JSON.parse(await fs.readFile("local.json")))
await fs.writeFile("merged.json", JSON.stringify(merged, null, 2))
await answer("Wrote merged.json.")`,
  })),
  task("files/todo-report", () => ({
    files: {
      "src/a.ts": "// TODO(ann): retry\nexport const a = 1;\n// todo without owner\n",
      "src/b/c.ts": "export const c = 2; // TODO(bo): rename\n// TODO(ann): test\n",
      "src/b/d.py": "# TODO(ann): not TypeScript\n",
    },
    request:
      `Write TODO.md from the comments "TODO(owner): text" in the TypeScript files under src: for each owner, in alphabetical order, a line "## owner", then a line "- path:line text" for each of them, in the order of path and line. No empty lines.`,
    expects: file("TODO.md", "## ann\n- src/a.ts:1 retry\n- src/b/c.ts:2 test\n## bo\n- src/b/c.ts:1 rename\n"),
    wrong: [{ answer: "Done.", files: { "TODO.md": "## ann\n- src/a.ts:1 retry\n## bo\n- src/b/c.ts:1 rename\n" } }],
    script:
      `const found = (await fs.grep("TODO\\\\(\\\\w+\\\\): ", { path: "src", glob: "*.ts" })).map(({ path, line, text }) => {
  const [, owner, what] = /TODO\\((\\w+)\\): (.*)/.exec(text)
  return { owner, path, line, what }
}).sort((a, b) => a.owner < b.owner ? -1 : a.owner > b.owner ? 1 : a.path < b.path ? -1 : a.path > b.path ? 1 : a.line - b.line)
const lines = found.flatMap(({ owner, path, line, what }, at) => [
  ...(found[at - 1]?.owner === owner ? [] : ["## " + owner]),
  "- " + path + ":" + line + " " + what.trim(),
])
await fs.writeFile("TODO.md", lines.join("\\n") + "\\n")
await answer("Wrote TODO.md.")`,
  })),
  task("files/inventory", () => {
    const random = seeded(26);
    const moves = Array.from({ length: 600 }, () => ({
      item: random.pick(["bolt", "nut", "washer", "hinge"]),
      change: random.below(40) - 21,
    }));
    const stock: Record<string, number> = { bolt: 100, nut: 100, washer: 100, hinge: 100 };
    let refused = 0;
    for (const { item, change } of moves) {
      if ((stock[item] ?? 0) + change < 0) refused++;
      else stock[item] = (stock[item] ?? 0) + change;
    }
    return {
      files: { "moves.jsonl": moves.map((move) => JSON.stringify(move)).join("\n") },
      request:
        `Each of bolt, nut, washer and hinge begins with 100 pieces. Apply the changes in moves.jsonl in order; one that would make a stock negative is skipped. Answer as JSON with the final stock by item and the number of skipped changes as "skipped".`,
      expects: json({ ...stock, skipped: refused }),
      wrong: [JSON.stringify({ ...stock, skipped: refused + 1 }), JSON.stringify(stock)],
      script: `const stock = { bolt: 100, nut: 100, washer: 100, hinge: 100, skipped: 0 }
for (const line of (await fs.readFile("moves.jsonl")).split("\\n")) {
  const { item, change } = JSON.parse(line)
  if (stock[item] + change < 0) stock.skipped++
  else stock[item] += change
}
await answer(JSON.stringify(stock))`,
    };
  }),
  task("files/split-by-month", () => ({
    files: { "diary.txt": DIARY },
    request:
      "Split diary.txt into files diary/YYYY-MM.txt with the entries of that month, sorted by date. Leave diary.txt as it is. Answer with the number of files you wrote, alone.",
    expects: all(
      file("diary/2026-01.txt", "2026-01-30 Snow.\n2026-01-31 More snow.\n"),
      file("diary/2026-02.txt", "2026-02-02 Thaw.\n2026-02-27 Rain all day.\n"),
      file("diary/2026-03.txt", "2026-03-09 First bees.\n"),
      file("diary.txt", DIARY),
      number(3),
    ),
    wrong: ["3", { answer: "3", files: { "diary/2026-01.txt": "2026-01-30 Snow.\n2026-01-31 More snow.\n" } }],
    script: `const lines = (await fs.readFile("diary.txt")).trim().split("\\n").sort()
const months = Map.groupBy(lines, (line) => line.slice(0, 7))
for (const [month, entries] of months) await fs.writeFile("diary/" + month + ".txt", entries.join("\\n") + "\\n")
await answer(String(months.size))`,
  })),
];
