import { join } from "node:path";
import type { Figure } from "./support/figure.ts";
import { cpuSeconds, proportionalMb, treeOf } from "./support/process_tree.ts";
import type { Program, Programs } from "./support/programs.ts";

const TIMES = 5;
const IDLE_MS = 1_500;
/** What the footer says once everything is there and keys are read. */
const USABLE = "demo policies";

/** `vis` on a terminal: from the start of the process to a screen that can be used, and what it takes while nobody
 * types. `script` gives it a terminal. */
export async function screen({ all }: Programs): Promise<readonly Figure[]> {
  const folder = await Deno.makeTempDir({ prefix: "vis-bench-screen-" });
  try {
    const workspace = join(folder, "workspace");
    await Deno.mkdir(workspace);
    const figures: Figure[] = [];
    for (const program of all) {
      const runs: Run[] = [];
      for (let time = 0; time <= TIMES; time++) {
        const run = await start(program, { workspace, home: join(folder, program.way) });
        if (time > 0) runs.push(run); // the first one makes the database
      }
      figures.push(...figuresOf(program, runs));
    }
    return figures;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

interface Run {
  readonly ms: number;
  readonly idleMb: number;
  readonly idleCpuMs: number;
}

function figuresOf({ way }: Program, runs: readonly Run[]): readonly Figure[] {
  const bar = (limit: number): number | null => way === "compiled" ? limit : null;
  return [
    { what: "start → screen that can be used", way, unit: "ms", samples: runs.map(({ ms }) => ms), bar: bar(300) },
    { what: "memory while idle", way, unit: "MB", samples: runs.map(({ idleMb }) => idleMb), bar: bar(120) },
    { what: "CPU of 1.5 idle seconds", way, unit: "ms", samples: runs.map(({ idleCpuMs }) => idleCpuMs), bar: bar(30) },
  ];
}

async function start(
  { path, args }: Program,
  { workspace, home }: { readonly workspace: string; readonly home: string },
): Promise<Run> {
  const command = [path, ...args, "--provider", "demo"].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  const begun = performance.now();
  const child = new Deno.Command("script", {
    args: ["-q", "-f", "-e", "-c", `stty cols 120 rows 40; exec ${command}`, "/dev/null"],
    cwd: workspace,
    env: { VIS_HOME: home, TERM: "xterm-256color", SHELL: "/bin/sh" },
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let seen = "";
  while (!seen.includes(USABLE)) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`Cannot measure the screen: it ended with ${seen}`);
    seen += value;
  }
  const ms = performance.now() - begun;
  const rest = drain(reader);
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  const pids = treeOf(child.pid).slice(1);
  const used = (): number => pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0);
  const before = used();
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  const run = { ms, idleMb: proportionalMb(pids), idleCpuMs: (used() - before) * 1_000 };
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode("\x04"));
  await rest;
  await writer.close().catch(() => {});
  await child.status;
  return run;
}

async function drain(reader: ReadableStreamDefaultReader<string>): Promise<void> {
  while (!(await reader.read()).done);
}
