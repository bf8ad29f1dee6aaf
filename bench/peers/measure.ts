/** `deno task bench --peers` runs this module in a separate process without network. The argument is JSON. */
import { join } from "node:path";
import { z } from "zod";
import { agentsOf } from "./agents.ts";
import { Installed } from "./install.ts";
import { type PeerResult, type PeersReport, peersTable } from "./peers_report.ts";
import { play, versionMs } from "./play.ts";

const TIMEOUT_MS = 180_000;
const VERSIONS = 10;

const Given = z.object({
  folder: z.string(),
  vis: z.string(),
  commit: z.string(),
  machine: z.object({ cores: z.number(), memoryGb: z.number() }),
  agents: z.array(z.string()),
  rounds: z.array(z.number()),
  repetitions: z.number(),
  path: z.string(),
});

type Result = { -readonly [K in keyof PeerResult]: PeerResult[K] } & {
  runs: Record<string, PeerResult["runs"][string]>;
};

async function measure(): Promise<void> {
  const given = Given.parse(JSON.parse(Deno.args[0] ?? "{}"));
  const { machine, commit, rounds, repetitions, path } = given;
  const installed = new Installed(given.folder);
  const agents = agentsOf(installed, given.vis);
  const results: Record<string, Result> = {};
  const homes = await Deno.makeTempDir({ prefix: "vis-peers-homes-" });
  try {
    for (const name of given.agents) {
      const agent = agents[name];
      if (!agent) {
        throw new Error(
          `Cannot measure ${name}: no agent has this name; choose one of ${Object.keys(agents).join(", ")}`,
        );
      }
      results[name] = { label: agent.label, sizeMb: await megabytes(agent.size), versionMs: [], runs: {}, fault: "" };
      // First starts create folders and fill the page cache, so they do not count.
      await attempt(results[name], () => played(name, 1));
      for (let at = 0; at < VERSIONS && results[name].fault === ""; at++) {
        results[name].versionMs = [...results[name].versionMs, await versionMs(agent, of(name))];
      }
    }
    for (const count of rounds) {
      for (let repetition = 0; repetition < repetitions; repetition++) {
        for (const [name, result] of Object.entries(results)) {
          if (result.fault !== "") continue;
          await attempt(result, async () => {
            result.runs[count] = [...result.runs[count] ?? [], await played(name, count)];
          });
        }
      }
    }
    const report: PeersReport = { commit, machine, repetitions, rounds, agents: results };
    await Deno.writeTextFile(path, `${JSON.stringify(report, short, 1)}\n`);
    console.log(peersTable(report, { spread: true, rounds }));
    for (const { label, fault } of Object.values(results)) if (fault !== "") console.log(`\n${label}: ${fault}`);
  } finally {
    await Deno.remove(homes, { recursive: true });
  }

  function of(name: string) {
    return { home: join(homes, name), node: installed.node };
  }

  function played(name: string, count: number) {
    const agent = agents[name];
    if (!agent) throw new Error(`Cannot measure ${name}: it was not installed`);
    return play(agent, { ...of(name), rounds: count, timeoutMs: TIMEOUT_MS });
  }
}

async function attempt(result: Result, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    result.fault = error instanceof Error ? error.message : String(error);
  }
}

async function megabytes(paths: readonly string[]): Promise<number> {
  const args = ["-skLc", ...paths];
  const { stdout } = await new Deno.Command("du", { args, stderr: "null" }).output();
  const total = new TextDecoder().decode(stdout).trim().split("\n").at(-1) ?? "";
  return Number(total.split(/\s/)[0] ?? 0) / 1024;
}

function short(_key: string, value: unknown): unknown {
  return typeof value === "number" ? Number(value.toPrecision(5)) : value;
}

if (import.meta.main) await measure();
