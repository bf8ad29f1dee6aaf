import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { cliFiles } from "../../../scripts/generate/cli.ts";

Deno.test("cliFiles() are current: deno task gen", async () => {
  for (const [name, text] of Object.entries(cliFiles())) {
    const there = await readFile(new URL(`../../../docs/generated/${name}`, import.meta.url), "utf8");
    assert.equal(there, text, `docs/generated/${name} is stale: run deno task gen`);
  }
});

Deno.test("cliFiles() have every command with its flags, and none that is hidden", () => {
  const files = cliFiles();
  const page = files["cli.md"] ?? "", manual = files["vis.1"] ?? "";
  for (const name of ["vis run", "vis conversations list", "vis config set", "vis completions", "vis auth login"]) {
    assert.ok(page.includes(`### ${name}\n`), name);
    assert.ok(manual.includes(`.SS "${name}"\n`), name);
  }
  assert.match(
    page,
    /^\| `--no-extension <name>` \| do not load the extension with this namespace, or this shipped extension; repeatable/m,
  );
  assert.doesNotMatch(page + manual, /__complete|--resume|default: false/);
});

Deno.test("cliFiles() make a manual page in which no text can pass for a request or lose its dashes", () => {
  const requests = [".TH", ".SH", ".SS", ".B", ".TP", ".PP", ".br", ".nf", ".fi", '.\\"'];
  for (const line of (cliFiles()["vis.1"] ?? "").trimEnd().split("\n")) {
    assert.doesNotMatch(line, /^'/);
    if (line.startsWith(".")) assert.ok(requests.includes(line.split(" ")[0] ?? ""), line);
    if (!line.startsWith('.\\"')) assert.doesNotMatch(line, /(?<!\\)-/, line);
  }
});
