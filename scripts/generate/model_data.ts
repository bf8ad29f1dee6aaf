/** `deno run -A scripts/generate/model_data.ts <folder>`: writes `src/providers/models/model_data/*.json` from the
 * unpacked npm package @earendil-works/pi-ai (MIT, see LICENSE-third-party), whose `exports` do not include its data:
 *
 *     npm pack @earendil-works/pi-ai@0.87.1 && tar xzf earendil-works-pi-ai-0.87.1.tgz
 *     deno run -A scripts/generate/model_data.ts package
 *
 * A row is [context, longest reply, input, output, cached, written, flags]: two token counts, four prices in US dollars
 * per million tokens (null if unknown; cached is input read from a cache, written is input written to one), and the
 * letters r (reasons), i (accepts images), s (served by the Responses API). */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Our file names and the package's. Subscription prices are not the prices of a pay-per-use service. */
const FILES: readonly { readonly ours: string; readonly theirs: string; readonly priced: boolean }[] = [
  { ours: "openai", theirs: "openai", priced: true },
  { ours: "anthropic", theirs: "anthropic", priced: true },
  { ours: "google", theirs: "google", priced: true },
  { ours: "openrouter", theirs: "openrouter", priced: true },
  { ours: "github-copilot", theirs: "github-copilot", priced: false },
  { ours: "zai", theirs: "zai", priced: true },
  { ours: "alibaba", theirs: "qwen-token-plan", priced: false },
];

export interface SourceModel {
  readonly id: string;
  readonly api: string;
  readonly reasoning: boolean;
  readonly input: readonly string[];
  readonly cost: {
    readonly input: number;
    readonly output: number;
    readonly cacheRead: number;
    readonly cacheWrite: number;
  };
  readonly contextWindow: number;
  readonly maxTokens: number;
}

/** The text of one of our files. */
export function modelDataText(
  models: readonly SourceModel[],
  { source, priced }: { readonly source: string; readonly priced: boolean },
): string {
  const rows = models.toSorted((a, b) => a.id < b.id ? -1 : 1).map((model) => {
    const row = JSON.stringify(rowOf(model, priced)).replaceAll(",", ", ");
    return `    ${JSON.stringify(model.id)}: ${row}`;
  });
  return `{\n  "source": ${JSON.stringify(source)},\n  "models": {\n${rows.join(",\n")}\n  }\n}\n`;
}

function rowOf(model: SourceModel, priced: boolean): readonly (number | string | null)[] {
  const { input, output, cacheRead, cacheWrite } = model.cost;
  // Only models marked as free are free: in the package, 0 means "unknown".
  const known = priced && (input + output > 0 || model.id.endsWith(":free"));
  const flags = `${model.reasoning ? "r" : ""}${model.input.includes("image") ? "i" : ""}${
    model.api === "openai-responses" ? "s" : ""
  }`;
  const price = known
    ? [input, output, cacheRead > 0 ? cacheRead : input, cacheWrite > 0 ? cacheWrite : null]
    : Array(4).fill(null);
  return [model.contextWindow, model.maxTokens, ...price, flags];
}

if (import.meta.main) {
  const folder = Deno.args[0];
  if (folder === undefined) throw new Error("Cannot find the data: give the folder of the unpacked package");
  const { version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const data = join(folder, "dist/providers/data");
  const { generatedAt } = JSON.parse(await readFile(join(data, ".manifest.json"), "utf8"));
  for (const { ours, theirs, priced } of FILES) {
    const groups: Record<string, Record<string, SourceModel>> = JSON.parse(
      await readFile(join(data, `${theirs}.json`), "utf8"),
    );
    const models = Object.values(groups).flatMap((group) => Object.values(group));
    const source = `@earendil-works/pi-ai ${version} (MIT), ${String(generatedAt).slice(0, 10)}`;
    const target = new URL(`../../src/providers/models/data/${ours}.json`, import.meta.url);
    await writeFile(target, modelDataText(models, { source, priced }));
  }
}
