import pc from "picocolors";
import { visibleText } from "../../../domain/kit/text.ts";
import type { KeyReport, ModelReport, ModelsReport, ProviderReport } from "../../../domain/reports.ts";
import type { Io } from "../../channel.ts";
import { interrupt, jsonText, printReport } from "../output.ts";
import type { CommandInput } from "../program/command.ts";

/** `vis providers`: the configured providers, in the order in which they are used. Resolves with 1 if one that was
 * checked did not answer. */
export async function providersCommand(
  { services, io, flags }: CommandInput<{ readonly check: boolean; readonly output: "text" | "json" }>,
): Promise<number> {
  using interrupted = interrupt(io);
  const admin = await services.providerAdmin({});
  const report = await admin.providers({ check: flags.check, signal: interrupted.signal });
  if (flags.output === "json") io.stdout(jsonText(report, { indent: 2 }));
  else {
    for (const provider of report.providers) io.stdout(`${lines(provider, io)}\n`);
    for (const note of report.notes) io.stderr(`vis: ${visibleText(note)}\n`);
    if (report.problem !== "") io.stderr(`vis: ${visibleText(report.problem)}\n`);
  }
  return report.providers.some(({ reach }) => reach?.ok === false) ? 1 : 0;
}

function lines(provider: ProviderReport, io: Io): string {
  const color = pc.createColors(io.stdoutColor);
  const { name, baseUrl, model, root, protocol, key, reach } = provider;
  const facts = [
    `${protocol} · ${baseUrl}`,
    `key: ${keyText(key)}`,
    `model: ${model ?? "none (set one with --model)"}`,
  ];
  if (reach !== null) facts.push(reach.ok ? `responds: ${reach.found}` : `does not respond: ${reach.found}`);
  const head = `${root ? color.green("*") : " "} ${color.bold(visibleText(name))}`;
  return [head, ...facts.map((fact) => `    ${visibleText(fact)}`)].join("\n");
}

function keyText({ shown, from, need, fix }: KeyReport): string {
  if (shown !== "") return `${shown} from ${from}`;
  return fix === "" ? need === "optional" ? "not needed" : "none" : `missing (${fix})`;
}

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
