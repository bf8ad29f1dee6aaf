/** `bin/deno task models` writes `src/providers/models/data/*.json` from the newest npm package @earendil-works/pi-ai
 * (MIT, see LICENSE-third-party), whose `exports` do not include its data.
 * `deno run -A scripts/generate/model_data.ts FOLDER` reads an unpacked package instead.
 *
 * A row is [context, longest reply, input, output, cached, written, flags]: two numbers of tokens, four prices in US
 * dollars per million tokens, and letters. Null means an unknown price. "Cached" means input that a
 * service reads from a cache, and "written" means input that it writes to a cache. The letters are r (reasons), i (accepts images) and s (uses the Responses API).
 *
 * If long calls have other prices, the row continues with the number of input tokens above which these prices apply,
 * and the four prices. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PACKAGE = "@earendil-works/pi-ai";

/** The price of a subscription is not the price of a service that bills each call. */
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
  /** Models of types other than "chat" make images or classify. An omitted type means "chat". */
  readonly type?: string;
  readonly api: string;
  readonly reasoning: boolean;
  readonly input: readonly string[];
  readonly cost: {
    readonly input: number;
    readonly output: number;
    readonly cacheRead: number;
    readonly cacheWrite: number;
    readonly tiers?: readonly (Omit<SourceModel["cost"], "tiers"> & { readonly inputTokensAbove: number })[];
  };
  readonly contextWindow: number;
  readonly maxTokens: number;
}

export function modelDataText(
  models: readonly SourceModel[],
  { source, priced }: { readonly source: string; readonly priced: boolean },
): string {
  const chat = models.filter(({ type = "chat" }) => type === "chat");
  const rows = chat.toSorted((a, b) => a.id < b.id ? -1 : 1).map((model) => {
    const row = JSON.stringify(rowOf(model, priced)).replaceAll(",", ", ");
    return `    ${JSON.stringify(model.id)}: ${row}`;
  });
  return `{\n  "source": ${JSON.stringify(source)},\n  "models": {\n${rows.join(",\n")}\n  }\n}\n`;
}

function rowOf(model: SourceModel, priced: boolean): readonly (number | string | null)[] {
  const { input, output } = model.cost;
  // In the package, the price 0 means "unknown", except for models marked as free.
  const known = priced && (input + output > 0 || model.id.endsWith(":free"));
  const flags = `${model.reasoning ? "r" : ""}${model.input.includes("image") ? "i" : ""}${
    model.api === "openai-responses" ? "s" : ""
  }`;
  const price = known ? pricesOf(model.cost) : Array(4).fill(null);
  const long = model.cost.tiers?.toSorted((a, b) => a.inputTokensAbove - b.inputTokensAbove)
    .find(({ inputTokensAbove }) => inputTokensAbove < model.contextWindow);
  const above = known && long ? [long.inputTokensAbove, ...pricesOf(long)] : [];
  return [model.contextWindow, model.maxTokens, ...price, flags, ...above];
}

function pricesOf({ input, output, cacheRead, cacheWrite }: Omit<SourceModel["cost"], "tiers">): (number | null)[] {
  return [input, output, cacheRead > 0 ? cacheRead : input, cacheWrite > 0 ? cacheWrite : null];
}

async function newestPackage(folder: string): Promise<string> {
  for (const [command, ...args] of [["npm", "pack", "--silent", `${PACKAGE}@latest`], ["sh", "-c", "tar xzf *.tgz"]]) {
    const { success } = await new Deno.Command(command ?? "", { args, cwd: folder }).output();
    if (!success) throw new Error(`Cannot get the newest ${PACKAGE}: ${command} failed`);
  }
  return join(folder, "package");
}

async function writeAll(folder: string): Promise<void> {
  const { version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const data = join(folder, "dist/providers/data");
  const { generatedAt } = JSON.parse(await readFile(join(data, ".manifest.json"), "utf8"));
  const source = `${PACKAGE} ${version} (MIT), ${String(generatedAt).slice(0, 10)}`;
  for (const { ours, theirs, priced } of FILES) {
    const groups: Record<string, Record<string, SourceModel>> = JSON.parse(
      await readFile(join(data, `${theirs}.json`), "utf8"),
    );
    const models = Object.values(groups).flatMap((group) => Object.values(group));
    const target = new URL(`../../src/providers/models/data/${ours}.json`, import.meta.url);
    await writeFile(target, modelDataText(models, { source, priced }));
  }
  console.log(`Models and prices are those of ${source}`);
}

if (import.meta.main) {
  const given = Deno.args[0];
  const folder = await mkdtemp(join(tmpdir(), "vis-models-"));
  try {
    await writeAll(given ?? await newestPackage(folder));
  } finally {
    await rm(folder, { recursive: true });
  }
}
