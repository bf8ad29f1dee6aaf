import { CHILD_ARGUMENT } from "../src/sandbox/launch.ts";
import { librariesOf, podman } from "../tests/e2e/helpers/podman.ts";
import { testSandbox } from "../tests/helpers/sandbox.ts";
import type { Figure } from "./support/figure.ts";
import { cpuSeconds, proportionalMb, treeOf } from "./support/process_tree.ts";
import type { Programs } from "./support/programs.ts";

const STARTS = 7;
const BLOCKS = 300;
const MIB = 1 << 20;

/** Starts in a container alternate with direct starts, so that both see the same state of the machine. */
export async function sandboxContainer({ all }: Programs): Promise<readonly Figure[]> {
  const program = all.find(({ way }) => way === "compiled");
  const containers = program ? await podman(librariesOf(program.path)) : "there is no executable";
  if (!program || typeof containers === "string") {
    const note = String(containers);
    return [{ what: "a sandbox in a container", way: "compiled", unit: "ms", samples: [], bar: null, note }];
  }
  await using podmanOfThis = containers;
  const measured = [
    { where: "directly", launcher: [], carriers: () => [], found: emptySamples() },
    {
      where: "in a container",
      launcher: podmanOfThis.launcher,
      carriers: podmanOfThis.processes,
      found: emptySamples(),
    },
  ];
  for (let time = 0; time <= STARTS; time++) {
    for (const place of measured) await measure(program.path, { ...place, counts: time > 0 });
  }
  return measured.flatMap(({ where, found }) => {
    const figure = (what: string, unit: string, samples: readonly number[]): Figure => (
      { what: `${what}, ${where}`, way: "compiled", unit, samples, bar: null }
    );
    return [
      figure("cold child → first answer", "ms", found.answers),
      figure("block round trip of 1 + 1", "ms", found.blocks),
      figure("memory of the sandbox and what carries it", "MiB", found.memory),
      figure("CPU of 300 blocks, sandbox and what carries it", "ms", found.cpu),
    ];
  });
}

interface Samples {
  readonly answers: number[];
  readonly blocks: number[];
  readonly memory: number[];
  readonly cpu: number[];
}

function emptySamples(): Samples {
  return { answers: [], blocks: [], memory: [], cpu: [] };
}

async function measure(
  path: string,
  { launcher, carriers, found, counts }: {
    readonly launcher: readonly string[];
    readonly carriers: () => readonly number[];
    readonly found: Samples;
    readonly counts: boolean;
  },
): Promise<void> {
  const begun = performance.now();
  const program = { path, args: [CHILD_ARGUMENT] };
  await using child = await testSandbox({ limits: { memoryBytes: 512 * MIB }, launcher, test: { program } });
  await child.show("1 + 1");
  if (!counts) return;
  found.answers.push(performance.now() - begun);
  const below = () => [...new Set([child.sandbox.pid, ...carriers()].flatMap(treeOf))];
  const cpu = () => below().reduce((sum, pid) => sum + cpuSeconds(pid), 0);
  const before = cpu();
  for (let block = 0; block < BLOCKS; block++) {
    const sent = performance.now();
    await child.show("1 + 1");
    found.blocks.push(performance.now() - sent);
  }
  found.cpu.push((cpu() - before) * 1000);
  found.memory.push(proportionalMb(below()));
}
