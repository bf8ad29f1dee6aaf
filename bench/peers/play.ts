import { join } from "node:path";
import { proportionalMb, reapedCpuSeconds, treeOf } from "../support/process_tree.ts";
import { type Agent, environmentOf, type PlayOf } from "./agents.ts";
import { fileText } from "../support/fifty_files.ts";
import { type ModelRequest, startScriptedModel } from "./scripted_model.ts";

const SAMPLE_MS = 50;

export interface Played {
  readonly launchMs: number;
  readonly roundMs: number;
  readonly wallMs: number;
  readonly cpuSeconds: number;
  readonly peakMb: number;
  readonly firstKb: number;
  readonly lastKb: number;
  readonly totalKb: number;
  readonly weightedKb: number;
}

/** The agent reads one file in each round. Throws the agent's output if the agent does anything else. */
export async function play(
  agent: Agent,
  { rounds, home, node, timeoutMs }: {
    readonly rounds: number;
    readonly home: string;
    readonly node: string;
    readonly timeoutMs: number;
  },
): Promise<Played> {
  const folder = await Deno.makeTempDir({ prefix: "vis-peers-" });
  try {
    await writeFiles(folder, rounds);
    await using model = startScriptedModel({ wire: agent.wire, rounds, folder });
    const { base } = model;
    const prompt = `Read file1.txt to file${rounds}.txt one after another with one tool call each, then say DONE.`;
    const of: PlayOf = { base, home, prompt, rounds };
    await Deno.mkdir(join(home, "tmp"), { recursive: true });
    for (const [path, text] of Object.entries(agent.files?.(of) ?? {})) {
      await Deno.mkdir(join(home, path, ".."), { recursive: true });
      await Deno.writeTextFile(join(home, path), text);
    }
    await (await fetch(`${base}/v1/models`)).text(); // The server's first response is slower than others.
    const ran = await run(agent.command(of), { env: environmentOf(agent, { play: of, node }), cwd: folder, timeoutMs });
    const main = model.requests.filter((one) => one.main);
    if (ran.code !== 0 || !ran.stdout.includes("DONE") || main.length !== rounds + 1) {
      const said = `${ran.stdout.slice(-500)}\n${ran.stderr.slice(-1500)}`;
      throw new Error(
        `Cannot play ${agent.label}: it ended with ${ran.code} after ${main.length} of ${rounds + 1} ` +
          `requests: ${said}`,
      );
    }
    return { ...ran.facts, ...wireFacts(model.requests, ran.begun) };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

export async function versionMs(
  agent: Agent,
  { home, node }: { readonly home: string; readonly node: string },
): Promise<number> {
  const [program = "", ...args] = agent.version;
  const env = environmentOf(agent, { play: { base: "http://127.0.0.1:9", home, prompt: "", rounds: 0 }, node });
  const begun = performance.now();
  const options = { args, env, clearEnv: true, cwd: home, stdin: "null", stdout: "null", stderr: "null" } as const;
  const { success } = await new Deno.Command(program, options).output();
  if (!success) throw new Error(`Cannot run ${agent.label} --version: it failed`);
  return performance.now() - begun;
}

async function writeFiles(folder: string, rounds: number): Promise<void> {
  for (let at = 1; at <= rounds; at++) await Deno.writeTextFile(join(folder, `file${at}.txt`), fileText(at));
  const who = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"];
  for (const args of [["init", "-q"], ["add", "-A"], [...who, "commit", "-qm", "files"]]) {
    await new Deno.Command("git", { args, cwd: folder, stdout: "null", stderr: "null" }).output();
  }
}

async function run(
  [program = "", ...args]: readonly string[],
  { env, cwd, timeoutMs }: {
    readonly env: Readonly<Record<string, string>>;
    readonly cwd: string;
    readonly timeoutMs: number;
  },
) {
  const cpu = reapedCpuSeconds();
  const begun = performance.now();
  const options = { args, env, clearEnv: true, cwd, stdin: "null", stdout: "piped", stderr: "piped" } as const;
  const process = new Deno.Command(program, options).spawn();
  let peakMb = 0;
  const sampling = setInterval(() => peakMb = Math.max(peakMb, proportionalMb(treeOf(process.pid))), SAMPLE_MS);
  const late = setTimeout(() => process.kill("SIGKILL"), timeoutMs);
  try {
    const { code, stdout, stderr } = await process.output();
    const wallMs = performance.now() - begun;
    const facts = { wallMs, cpuSeconds: reapedCpuSeconds() - cpu, peakMb };
    const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
    return { code, stdout: text(stdout), stderr: text(stderr), begun, facts };
  } finally {
    clearInterval(sampling);
    clearTimeout(late);
  }
}

function wireFacts(requests: readonly ModelRequest[], begun: number) {
  const main = requests.filter((one) => one.main);
  const gaps = main.slice(1).map(({ arrived }, at) => arrived - (main[at]?.replied ?? 0)).sort((a, b) => a - b);
  const kb = (bytes: number): number => bytes / 1000;
  return {
    launchMs: (main[0]?.arrived ?? 0) - begun,
    roundMs: gaps[Math.floor(gaps.length / 2)] ?? 0,
    firstKb: kb(main[0]?.bytes ?? 0),
    lastKb: kb(main.at(-1)?.bytes ?? 0),
    totalKb: kb(requests.reduce((sum, { bytes }) => sum + bytes, 0)),
    weightedKb: kb(weighted(main) / main.length),
  };
}

/** The weights are prices of Anthropic: a tenth for repeated bytes of the previous request, and a quarter more for new
 * bytes that the next request repeats. */
function weighted(main: readonly ModelRequest[]): number {
  return main.reduce((sum, { compared, shared }, at) => {
    const kept = Math.max(0, (main[at + 1]?.shared ?? 0) - shared);
    return sum + 0.1 * shared + (compared - shared) + 0.25 * kept;
  }, 0);
}
