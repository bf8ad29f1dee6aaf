import { join } from "node:path";
import fs from "../extensions/fs/mod.ts";
import type { EnvironmentView, FunctionSymbol } from "../src/extension/mod.ts";
import { testSandbox } from "../tests/helpers/sandbox.ts";
import type { Figure } from "./support/figure.ts";
import { largeTree } from "./support/large_tree.ts";

const RUNS = 5;
const READS = 30;
const MIB = 1 << 20;
const BLOCKED_MS = 20;
/** These patterns need an automaton that grows with the text, or have a quadratic worst case. */
const HOSTILE = ["(a[ab]{1,30}){1,30}[QZ]", "[ab]*a[ab]{900}[QZ]", "(a+)+$", "(.*a){20}$"];

export async function files(): Promise<readonly Figure[]> {
  const base = await Deno.realPath(await Deno.makeTempDir({ prefix: "vis-bench-files-" }));
  try {
    const workspace = join(base, "tree");
    await largeTree(workspace);
    const view = { envId: "e", conversationId: "c", branchId: "b", depth: 0, workspace, home: join(base, "home") };
    return [...await searches(view), ...await reading(view), ...await hostile(base)];
  } finally {
    await Deno.remove(base, { recursive: true });
  }
}

async function searches(view: EnvironmentView): Promise<readonly Figure[]> {
  const idle = await measured(() => new Promise((resolve) => setTimeout(resolve, 500)));
  const figures: Figure[] = [
    { what: "an idle main loop's longest stop in 0.5 s", way: "part", unit: "ms", samples: idle.stops, bar: null },
  ];
  for (
    const [what, pattern] of [["text", "needle_in_it"], ["pattern", "needle_\\w+|pin_\\d+"], [
      "large pattern",
      "(needle|pin|thread)_[a-z]{2,40}\\b",
    ]] as const
  ) {
    const { samples, stops } = await measured(() => call("grep", view, [pattern]));
    figures.push(
      { what: `grep over 200 MB, ${what}`, way: "part", unit: "ms", samples, bar: 5_000 },
      { what: `  the main loop's longest stop`, way: "part", unit: "ms", samples: stops, bar: BLOCKED_MS },
    );
  }
  return figures;
}

async function reading(view: EnvironmentView): Promise<readonly Figure[]> {
  await Deno.writeTextFile(join(view.workspace, "one_mb.txt"), "a line of some text\n".repeat(MIB / 20));
  await using child = await testSandbox({
    functions: { "bench.readFile": ({ args }) => call("readFile", view, args) },
    limits: { memoryBytes: 512 * MIB },
  });
  const samples: number[] = [];
  for (let at = 0; at < READS + 5; at++) {
    const begun = performance.now();
    await child.show(`const text${at} = await bench.readFile("one_mb.txt"); text${at}.length`);
    if (at >= 5) samples.push(performance.now() - begun);
  }
  return [{ what: "readFile of 1 MB into a variable, the block included", way: "part", unit: "ms", samples, bar: 10 }];
}

async function hostile(base: string): Promise<readonly Figure[]> {
  const workspace = join(base, "hostile");
  await Deno.mkdir(workspace);
  const text = Array.from({ length: 400_000 }, (_, at) => at * 7919 % 13 < 6 ? "a" : "b").join("");
  await Deno.writeTextFile(join(workspace, "a.txt"), `${text}\n${"a".repeat(200_000)}!\n`);
  const lines = (seed: number): string => Array.from({ length: 60_000 }, (_, at) => `${(at * seed) % 7919}`).join("\n");
  await Deno.writeTextFile(join(workspace, "b.txt"), lines(31));
  await Deno.writeTextFile(join(workspace, "c.txt"), "a".repeat(4 * MIB));
  const view = { envId: "e", conversationId: "c", branchId: "b", depth: 0, workspace, home: join(base, "home") };
  const attempt = (name: string, args: readonly unknown[]) => call(name, view, args).catch(() => {});
  const cases: readonly (readonly [string, () => Promise<unknown>])[] = [
    ...HOSTILE.map((pattern) => [`pattern ${pattern}`, () => attempt("grep", [pattern])] as const),
    [
      "a text that repeats itself in an edit",
      () => attempt("edit", ["c.txt", { old: `b${"a".repeat(MIB)}`, new: "" }]),
    ],
    ["two texts with nothing in common in a diff", () => attempt("writeFile", ["b.txt", lines(37)])],
  ];
  const figures: Figure[] = [];
  for (const [what, run] of cases) {
    const { stops } = await measured(run, 3);
    figures.push({ what: `${what}: the longest stop`, way: "part", unit: "ms", samples: stops, bar: BLOCKED_MS });
  }
  return figures;
}

/** The time for which a thread waits for a processor is not its own delay. Without /proc, the result is 0. */
function waitedMs(): number {
  try {
    return Number(Deno.readTextFileSync(`/proc/self/task/${Deno.pid}/schedstat`).split(" ")[1]) / 1e6;
  } catch {
    return 0;
  }
}

/** The first run does not count. `stops` has the longest time of each run in which the main loop was blocked. */
async function measured(run: () => Promise<unknown>, runs = RUNS) {
  await run();
  const samples: number[] = [];
  const stops: number[] = [];
  for (let at = 0; at < runs; at++) {
    let stop = 0;
    let last = performance.now() - waitedMs();
    const timer = setInterval(() => {
      const now = performance.now() - waitedMs();
      stop = Math.max(stop, now - last - 1);
      last = now;
    }, 1);
    const begun = performance.now();
    await run();
    samples.push(performance.now() - begun);
    clearInterval(timer);
    stops.push(stop);
  }
  return { samples, stops };
}

async function call(name: string, view: EnvironmentView, args: readonly unknown[]): Promise<unknown> {
  const symbol = fs.symbols.find((one): one is FunctionSymbol => one.name === name && one.kind === "function");
  if (!symbol) throw new TypeError(`Cannot measure fs.${name}: fs has no such function`);
  return await symbol.fn(view, ...args);
}
