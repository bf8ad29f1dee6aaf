import { join } from "node:path";
import { parseArgs } from "node:util";
import { ROOT } from "../../scripts/_project.ts";
import { describeCommit, describeMachine } from "../support/machine.ts";
import { findPrograms } from "../support/programs.ts";
import { Installed } from "./install.ts";
import { publish } from "./publish.ts";

const MEASURE = join(ROOT, "bench/peers/measure.ts");
const USAGE = "deno task bench --peers [--agents vis,pi] [--rounds 1,10,50,250] [--repetitions 5] [--publish]";

export async function peers(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      agents: { type: "string", default: "vis,pi,codex,claude,opencode" },
      rounds: { type: "string", default: "1,10,50,250" },
      repetitions: { type: "string", default: "5" },
      publish: { type: "boolean", default: false },
    },
  });
  const programs = await findPrograms();
  const vis = programs.all.find(({ way }) => way === "compiled");
  if (!vis) {
    console.error(`Cannot measure: ${programs.missing}; ${USAGE}`);
    return 1;
  }
  const folder = join(Deno.env.get("XDG_CACHE_HOME") ?? join(Deno.env.get("HOME") ?? "/tmp", ".cache"), "vis-peers");
  await Installed.complete(folder);
  const { cores, memoryGb } = await describeMachine(programs);
  const given = {
    ...{ folder, vis: vis.path, commit: await describeCommit(), machine: { cores, memoryGb } },
    agents: values.agents.split(","),
    rounds: values.rounds.split(",").map(Number),
    repetitions: Number(values.repetitions),
    path: join(ROOT, "bench/results/peers.json"),
  };
  await Deno.mkdir(join(ROOT, "bench/results"), { recursive: true });
  const measure = [Deno.execPath(), "run", "-A", "--config", join(ROOT, "deno.json"), MEASURE, JSON.stringify(given)];
  const [program = "", ...words] = [...await alone(), ...measure];
  const { code } = await new Deno.Command(program, { args: words, stdin: "null" }).spawn().status;
  if (code === 0 && values.publish) await publish(given.path);
  return code;
}

async function alone(): Promise<readonly string[]> {
  for (const flags of ["-n", "-rn"]) {
    const words = ["unshare", flags, "sh", "-c", 'ip link set lo up && exec "$@"', "sh"];
    const [program = "", ...args] = [...words, "true"];
    const command = new Deno.Command(program, { args, stdout: "null", stderr: "null" });
    // If the program is absent, `output` throws at once instead of rejecting.
    const tried = await Promise.try(() => command.output()).catch(() => null);
    if (tried?.success) return words;
  }
  console.error("No network namespace: the agents could reach other hosts");
  return [];
}
