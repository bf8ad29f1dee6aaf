import { join } from "node:path";
import type { Figure } from "./support/figure.ts";
import type { Program, Programs } from "./support/programs.ts";
import { visRun } from "./support/vis_run.ts";

const TIMES = 9;

interface Places {
  readonly workspace: string;
  readonly home: string;
}

export async function launch({ all }: Programs): Promise<readonly Figure[]> {
  const folder = await Deno.makeTempDir({ prefix: "vis-bench-launch-" });
  try {
    const workspace = join(folder, "workspace");
    await Deno.mkdir(workspace);
    const figures: Figure[] = [];
    for (const program of all) figures.push(...await measure(program, { workspace, home: join(folder, program.way) }));
    return figures;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function measure(program: Program, places: Places): Promise<readonly Figure[]> {
  const versions: number[] = [];
  const requests: number[] = [];
  const walls: number[] = [];
  for (let time = 0; time <= TIMES; time++) {
    const version = await versionMs(program);
    const { arrived, wallMs } = await oneRound(program, places);
    if (time === 0) continue;
    versions.push(version);
    requests.push(arrived[0] ?? NaN);
    walls.push(wallMs);
  }
  const bar = (ms: number): number | null => program.way === "compiled" ? ms : null;
  return [
    { what: "vis version", way: program.way, unit: "ms", samples: versions, bar: bar(50) },
    { what: "start → first model request", way: program.way, unit: "ms", samples: requests, bar: bar(100) },
    { what: "one query of one round, process included", way: program.way, unit: "ms", samples: walls, bar: bar(240) },
  ];
}

async function versionMs({ path, args }: Program): Promise<number> {
  const begun = performance.now();
  const { success } = await new Deno.Command(path, { args: [...args, "version"], stdin: "null" }).output();
  if (!success) throw new Error("Cannot measure vis version: it failed");
  return performance.now() - begun;
}

/** The reply has a block and an answer, so the sandbox must have started. */
async function oneRound(program: Program, places: Places) {
  const run = await visRun(program, {
    ...places,
    prompt: "What is six times seven?",
    handler: () => JSON.stringify({ code: [{ expr: "const product = 6 * 7" }], final: { answer: "{{product}}" } }),
  });
  if (run.stdout !== "42\n" || run.bytes.length !== 1) {
    throw new Error(`Cannot measure one round: ${run.bytes.length} requests and the answer ${run.stdout}`);
  }
  return run;
}
