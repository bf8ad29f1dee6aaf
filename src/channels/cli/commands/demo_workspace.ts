import { join } from "node:path";

const FILES: Readonly<Record<string, string>> = {
  "README.md": "# Till\n\nA small cash register.\n\nTODO: say how to run it\n",
  "src/price.ts": [
    "/** Prices are in cents. */",
    "export function total(prices: number[]): number {",
    "  // TODO: refuse negative prices",
    "  return prices.reduce((sum, price) => sum + price, 0);",
    "}",
    "",
  ].join("\n"),
  "src/discount.ts": [
    'import { total } from "./price.ts";',
    "",
    "// TODO: round half up",
    "// TODO: read the rate from the configuration",
    "export function discounted(prices: number[]): number {",
    "  return Math.floor(total(prices) * 0.9);",
    "}",
    "",
  ].join("\n"),
  "src/receipt.ts": [
    'import { discounted } from "./discount.ts";',
    "",
    "export function receipt(prices: number[]): string {",
    "  return `Total: ${discounted(prices)} cents`;",
    "}",
    "",
  ].join("\n"),
  "data/sales.csv": "day,amount\nmon,1200\ntue,800\nwed,950\nthu,1430\nfri,2210\n",
};

/** Writes the demo's files into `folder`, which must exist. */
export async function makeWorkspace(folder: string): Promise<void> {
  for (const [path, text] of Object.entries(FILES)) {
    const target = join(folder, path);
    await Deno.mkdir(join(target, ".."), { recursive: true });
    await Deno.writeTextFile(target, text);
  }
}
