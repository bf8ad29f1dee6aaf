import { type Spread, spreadOf } from "../support/figure.ts";
import type { Played } from "./play.ts";

export interface PeersReport {
  readonly commit: string;
  readonly machine: { readonly cores: number; readonly memoryGb: number };
  readonly repetitions: number;
  readonly rounds: readonly number[];
  readonly agents: Readonly<Record<string, PeerResult>>;
}

export interface PeerResult {
  readonly label: string;
  readonly sizeMb: number;
  readonly versionMs: readonly number[];
  readonly runs: Readonly<Record<string, readonly Played[]>>;
  readonly fault: string;
}

interface Row {
  readonly what: string;
  readonly of: (result: PeerResult) => Spread | null;
  /** Differences below the last digit are noise. */
  readonly digits: number;
}

export function peersTable(report: PeersReport, { spread, rounds, rows: names = [] }: {
  readonly spread: boolean;
  readonly rounds: readonly number[];
  readonly rows?: readonly string[];
}): string {
  const results = Object.values(report.agents);
  const head = ["", ...results.map(({ label }) => label)];
  const chosen = rowsFor(rounds.filter((one) => report.rounds.includes(one))).filter(({ what }) =>
    names.length === 0 || names.some((name) => what.startsWith(name))
  );
  const rows = chosen.map(({ what, of, digits }) => {
    const found = results.map(of);
    const least = Math.min(...found.map((one) => one?.median ?? Infinity));
    return [what, ...found.map((one) => one === null ? "–" : cell(one, { digits, spread, least }))];
  });
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** `vis lastKb 50` is the median of Vis, and `others lastKb 50` the range of the medians of the others. */
export function peersFigure(report: PeersReport, name: string): string {
  const [of, key, rounds] = name.split(" ") as ["vis" | "others", keyof Played, string];
  const medians = Object.entries(report.agents).filter(([agent]) => (agent === "vis") === (of === "vis"))
    .flatMap(([, { runs }]) => spreadOf((runs[Number(rounds)] ?? []).map((one) => one[key]))?.median ?? []);
  if (medians.length === 0) throw new Error(`Cannot find the figure ${name}: the report has no such figure`);
  const show = (value: number): string => value.toFixed(value < 100 ? 1 : 0);
  const [least, most] = [show(Math.min(...medians)), show(Math.max(...medians))];
  return least === most ? least : `${least}–${most}`;
}

function rowsFor(rounds: readonly number[]): readonly Row[] {
  const run = (what: string, key: keyof Played, digits: number, at: readonly number[]): readonly Row[] =>
    at.map((count) => ({
      what: `${what}, ${count} ${count === 1 ? "round" : "rounds"}`,
      digits,
      of: ({ runs }) => spreadOf((runs[count] ?? []).map((one) => one[key])),
    }));
  const several = rounds.filter((count) => count > 1);
  return [
    ...run("start to first model call (ms)", "launchMs", 0, rounds.slice(0, 1)),
    ...run("between reply and next call (ms)", "roundMs", 1, several),
    ...run("whole run (s)", "wallMs", -3, rounds),
    ...run("CPU (s)", "cpuSeconds", 2, rounds),
    ...run("peak memory of all processes (MiB)", "peakMb", 0, rounds),
    ...run("first model call (KB)", "firstKb", 1, rounds.slice(0, 1)),
    ...run("last model call (KB)", "lastKb", 1, several),
    ...run("all model calls (KB)", "totalKb", 0, several),
    ...run("mean call at cache prices (KB)", "weightedKb", 1, several),
    { what: "`--version` (ms)", digits: 0, of: ({ versionMs }) => spreadOf(versionMs) },
    { what: "on disk (MiB)", digits: 0, of: ({ sizeMb }) => spreadOf(sizeMb > 0 ? [sizeMb] : []) },
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
