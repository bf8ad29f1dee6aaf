import { type Spread, spreadOf } from "../support/figure.ts";
import type { Played } from "./play.ts";

/** What a measurement stores; the tables of the documents are made from it. */
export interface PeersReport {
  readonly commit: string;
  readonly machine: { readonly cores: number; readonly memoryGb: number };
  readonly repetitions: number;
  /** Numbers of rounds that were measured. */
  readonly rounds: readonly number[];
  readonly agents: Readonly<Record<string, PeerResult>>;
}

export interface PeerResult {
  readonly label: string;
  readonly sizeMb: number;
  readonly versionMs: readonly number[];
  /** By the number of rounds, one for each repetition. */
  readonly runs: Readonly<Record<string, readonly Played[]>>;
  /** Why something is missing; "" if nothing is. */
  readonly fault: string;
}

interface Row {
  readonly what: string;
  /** Null where it was not measured. */
  readonly of: (result: PeerResult) => Spread | null;
  /** Differences below it are noise. */
  readonly digits: number;
}

/** One line for each figure, one column for each agent: medians, the least of each line in bold. */
export function peersTable(report: PeersReport, { spread, rounds }: {
  /** Whether the least and the largest sample are shown. */
  readonly spread: boolean;
  readonly rounds: readonly number[];
}): string {
  const results = Object.values(report.agents);
  const head = ["", ...results.map(({ label }) => label)];
  const rows = rowsFor(rounds.filter((one) => report.rounds.includes(one))).map(({ what, of, digits }) => {
    const found = results.map(of);
    const least = Math.min(...found.map((one) => one?.median ?? Infinity));
    return [what, ...found.map((one) => one === null ? "–" : cell(one, { digits, spread, least }))];
  });
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function rowsFor(rounds: readonly number[]): readonly Row[] {
  const most = Math.max(...rounds);
  const run = (what: string, key: keyof Played, digits: number, at: readonly number[]): readonly Row[] =>
    at.map((count) => ({
      what: `${what}, ${count} ${count === 1 ? "round" : "rounds"}`,
      digits,
      of: ({ runs }) => spreadOf((runs[count] ?? []).map((one) => one[key])),
    }));
  const several = rounds.filter((count) => count > 1);
  return [
    ...run("start to first request (ms)", "launchMs", 0, rounds.slice(0, 1)),
    ...run("between reply and next request (ms)", "roundMs", 1, several),
    ...run("whole run (s)", "wallMs", -3, rounds),
    ...run("CPU (s)", "cpuSeconds", 2, rounds),
    ...run("memory at its peak, all processes (MB)", "peakMb", 0, rounds),
    ...run("first request (KB)", "firstKb", 1, rounds.slice(0, 1)),
    ...run("last request (KB)", "lastKb", 1, [most]),
    ...run("all requests (KB)", "totalKb", 0, several),
    ...run("a request as billed with a cache (KB)", "weightedKb", 1, several),
    { what: "`--version` (ms)", digits: 0, of: ({ versionMs }) => spreadOf(versionMs) },
    { what: "on disk (MB)", digits: 0, of: ({ sizeMb }) => spreadOf(sizeMb > 0 ? [sizeMb] : []) },
  ];
}

function cell(
  { median, min, max }: Spread,
  { digits, spread, least }: { readonly digits: number; readonly spread: boolean; readonly least: number },
): string {
  const show = (value: number): string => digits < 0 ? (value / 1000).toFixed(2) : value.toFixed(digits);
  const text = show(median) === show(least) ? `**${show(median)}**` : show(median);
  return spread && show(min) !== show(max) ? `${text} (${show(min)}–${show(max)})` : text;
}
