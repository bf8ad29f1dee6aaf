import { join } from "node:path";
import { ROOT } from "../../scripts/_project.ts";
import { type PeersReport, peersTable } from "./peers_report.ts";

export const PEERS_JSON = join(ROOT, "docs/generated/peers.json");
export const PEERS_PAGE = join(ROOT, "docs/generated/peers.md");
const README = join(ROOT, "README.md");
const BEGIN = "<!-- peers: made by deno task bench --peers --publish -->", END = "<!-- /peers -->";

/** Copies a measurement to the documents: its numbers, the page with all of them, the table of the README. */
export async function publish(path: string): Promise<void> {
  await Deno.copyFile(path, PEERS_JSON);
  const report: PeersReport = JSON.parse(await Deno.readTextFile(path));
  await Deno.writeTextFile(PEERS_PAGE, peersPage(report));
  await Deno.writeTextFile(README, withTable(await Deno.readTextFile(README), report));
  await new Deno.Command(Deno.execPath(), { args: ["fmt", "--quiet", PEERS_PAGE, README], cwd: ROOT }).output();
}

/** The page in docs/generated, before it is formatted. */
export function peersPage(report: PeersReport): string {
  const { machine: { cores, memoryGb }, repetitions, rounds } = report;
  return `# Beside other agents

Made by \`deno task bench --peers --publish\`; [benchmarks](../internals/benchmarks.md#beside-other-agents) says how. Medians of
${repetitions} repetitions with the least and the largest, on ${cores} cores and ${memoryGb} GB; the least of a line in
bold.

${peersTable(report, { spread: true, rounds })}
`;
}

/** The README with the short table, before it is formatted. */
export function withTable(readme: string, report: PeersReport): string {
  const [before = "", rest = ""] = readme.split(BEGIN);
  const [, after = ""] = rest.split(END);
  return `${before}${BEGIN}\n\n${peersTable(report, { spread: false, rounds: [50] })}\n\n${END}${after}`;
}
