import type { ModelReport, ModelsReport } from "../../../domain/reports.ts";
import type { CommandInput } from "../input/command_input.ts";
import { interrupt } from "../input/interrupt.ts";
import { printReport } from "../output/print_report.ts";

/** `vis models`: the names for --model and their prices. */
export async function modelsCommand(
  { services, io, flags }: CommandInput<{ readonly provider?: string | undefined; readonly output: "text" | "json" }>,
): Promise<number> {
  using interrupted = interrupt(io);
  const admin = await services.providerAdmin({});
  const lists = await admin.models({ provider: flags.provider ?? null, signal: interrupted.signal });
  printReport(lists, lists.map(table), { io, flags });
  return lists.every(({ models }) => models.length > 0) ? 0 : 1;
}

const SOURCES: Readonly<Record<ModelsReport["source"], string>> = {
  service: "listed by the service",
  data: "from data included with vis",
  config: "from the configuration",
};

function table({ provider, source, detail, prices, models }: ModelsReport): string {
  const of = prices === undefined ? "" : `; prices of ${prices}`;
  const head = `${provider} (${SOURCES[source]}${detail === "" ? "" : `: ${detail}`}${of})`;
  if (models.length === 0) return `${head}\n  no models`;
  const width = Math.min(48, Math.max(...models.map(({ name }) => name.length)));
  return [head, ...models.map((model) => row(model, width))].join("\n");
}

function row(model: ModelReport, width: number): string {
  const { name, contextTokens, price, reasoning, images, known, root } = model;
  const facts = [
    (contextTokens === null ? "?" : `${Math.round(contextTokens / 1000)}k`).padStart(6),
    (price === null ? "price unknown" : `$${price.input} in, $${price.output} out`).padEnd(22),
    reasoning ? "reasons" : "       ",
    images ? "images" : "",
    known ? "" : "(unknown model)",
    price?.above ? `$${price.above.input} in, $${price.above.output} out above ${price.above.tokens / 1000}k` : "",
  ];
  return `${root ? "*" : " "} ${name.padEnd(width)} ${facts.join("  ")}`.trimEnd();
}
