import assert from "node:assert/strict";
import { join } from "node:path";
import { filesOf } from "../architecture/import_graph.ts";
import { loadModelData, type ModelDataSet } from "../../src/providers/models/model_data.ts";

const ROOT = new URL("../..", import.meta.url).pathname;
const SETS: readonly ModelDataSet[] = ["openai", "anthropic", "google", "openrouter", "github-copilot"];
/** Matches models of these families. A name of a family alone has no number. */
const NAME = /\b(?:claude-[a-z]+-\d[\w.-]*|gpt-\d[\w.-]*|gemini-[\w.-]*\w)/g;

async function pages(): Promise<readonly string[]> {
  const docs = (await filesOf(ROOT, "docs/")).filter((path) => path.endsWith(".md"));
  return ["README.md", ...docs.filter((path) => !path.startsWith("docs/generated/") || path.endsWith("/cli.md"))];
}

Deno.test("pages and help examples name models that the price list has", async () => {
  const data = await Promise.all(SETS.map((set) => loadModelData(set)));
  const named = new Set<string>();
  for (const page of await pages()) {
    for (const [name] of (await Deno.readTextFile(join(ROOT, page))).matchAll(NAME)) {
      named.add(name);
      assert.ok(data.some((one) => one.find(name) !== null), `${page}: ${name}`);
    }
  }
  assert.ok(named.has("claude-sonnet-5"));
});
