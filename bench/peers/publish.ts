import { join } from "node:path";
import { ROOT } from "../../scripts/_project.ts";
import { peersFigure, type PeersReport, peersTable } from "./peers_report.ts";

export const PEERS_JSON = join(ROOT, "docs/generated/peers.json");
export const PEERS_PAGE = join(ROOT, "docs/generated/peers.md");
export const FIGURE_PAGES = ["README.md", "docs/guide/why-code.md"].map((path) => join(ROOT, path));
const ROWS = ["between reply and next call", "peak memory", "last model call"];
const BEGIN = "<!-- peers: made by deno task bench --peers --publish -->", END = "<!-- /peers -->";

export async function publish(path: string): Promise<void> {
  await Deno.copyFile(path, PEERS_JSON);
  const report: PeersReport = JSON.parse(await Deno.readTextFile(path));
  await Deno.writeTextFile(PEERS_PAGE, peersPage(report));
  for (const page of FIGURE_PAGES) {
    await Deno.writeTextFile(page, withFigures(await Deno.readTextFile(page), report));
  }
  await new Deno.Command(Deno.execPath(), { args: ["fmt", "--quiet", PEERS_PAGE, ...FIGURE_PAGES], cwd: ROOT })
    .output();
}

export function peersPage(report: PeersReport): string {
  const { machine: { cores, memoryGb }, repetitions, rounds } = report;
  return `# Comparison with other agents

This page is for readers who want every figure. One scripted model asks each agent to read files, one in each round.
\`bin/deno task bench --peers --publish\` makes this page; [benchmarks](../internals/benchmarks.md#comparison-with-other-agents)
explains the method and its biases. Each figure is the median of ${repetitions} repetitions, with the lowest and the highest
in brackets, on ${cores} cores and ${memoryGb} GB. The lowest value in each row is bold.

${peersTable(report, { spread: true, rounds })}
`;
}

export function withFigures(page: string, report: PeersReport): string {
  const [before = "", rest = ""] = page.split(BEGIN);
  const table = `${BEGIN}\n\n${peersTable(report, { spread: false, rounds: [50], rows: ROWS })}\n\n${END}`;
  const whole = rest === "" ? page : before + table + rest.slice(rest.indexOf(END) + END.length);
  return whole.replace(
    /<!-- figure: (\w+ \w+ \d+) -->.*?<!-- \/ -->/g,
    (_, name: string) => `<!-- figure: ${name} -->${peersFigure(report, name)}<!-- / -->`,
  );
}
