import type { Machine } from "../../../bench/support/machine.ts";
import type { ChaosReport } from "./chaos.ts";

export interface ChaosResult {
  readonly commit: string;
  readonly way: string;
  readonly machine: Pick<Machine, "cores" | "memoryGb" | "load">;
  readonly runs: readonly ChaosReport[];
}

const FAULTS = {
  kill: "nodes killed (SIGKILL)",
  stop: "nodes stopped for 9 seconds (SIGSTOP)",
  term: "nodes ended (SIGTERM) and replaced",
  cut: "half of all connections cut",
  hush: "all connections left open without an answer",
  restart: "database server restarted",
  crash: "database server crashed",
} as const;

export function chaosPage({ commit, way, machine, runs }: ChaosResult): string {
  const [first] = runs;
  const { nodes = 0, conversations = 0, requests = 0, atOnce = 0 } = first?.size ?? {};
  const row = (what: string, cells: readonly (string | number)[]) => `| ${[what, ...cells].join(" | ")} |`;
  const head = [row("", runs.map(({ size }) => `seed ${size.seed}`)), row("---", runs.map(() => "---"))];
  const invariants = first?.invariants.map(({ what }) =>
    row(
      what,
      runs.map((run) => {
        const { checked = 0, violations = [] } = run.invariants.find((one) => one.what === what) ?? {};
        return violations.length === 0 ? `0 of ${checked}` : `**${violations.length}** of ${checked}`;
      }),
    )
  ) ?? [];
  return [
    "# Results of failing nodes",
    "",
    `This page is for operators of several nodes. \`bin/deno task chaos\` generates the page from \`chaos.json\`. The run had ${nodes} nodes (${way}) and ${conversations}`,
    `conversations of ${requests} requests, ${atOnce} at a time. The machine had ${machine.cores} cores, ${machine.memoryGb} GB and a load of ${
      machine.load.toFixed(1)
    }; the`,
    `commit is ${commit}. [Nodes and their database](../internals/nodes.md#tests-that-break-nodes) describes the run.`,
    "",
    "## Requests and injected faults",
    "",
    ...head,
    row("seconds", runs.map(({ seconds }) => seconds)),
    ...Object.entries(FAULTS).map(([name, what]) => row(what, runs.map(({ faults }) => faults[name] ?? 0))),
    ...Object.keys(first?.counts ?? {}).map((what) => row(what, runs.map(({ counts }) => counts[what] ?? 0))),
    "",
    "## Violations of each rule",
    "",
    "A cell has the number of violations, and the number of checks.",
    "",
    ...head,
    ...invariants,
    "",
  ].join("\n");
}
