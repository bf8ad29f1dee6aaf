import pc from "picocolors";
import { visibleText } from "../../../domain/kit/text.ts";
import type { KeyReport, ProviderReport } from "../../../domain/reports.ts";
import type { Io } from "../../channel.ts";
import type { CommandInput } from "../input/command_input.ts";
import { interrupt } from "../input/interrupt.ts";
import { jsonText } from "../output/json_text.ts";

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
