import {
  countTask,
  hintTask,
  hopTask,
  needleTask,
  pairTask,
  treeTask,
} from "../../tests/helpers/evaluation/eval_data.ts";
import type { Figure } from "../support/figure.ts";
import type { Program, Programs } from "../support/programs.ts";
import { type Played, playPolicy } from "./play_policy.ts";
import { LATENCY_MS, schedulingOverhead, timerOverhead } from "./scheduling_overhead.ts";

const NEEDLE_BITS = [13, 17, 20, 24, 27] as const;
const GROWTH = "Make 200 texts of 4096 bytes, one per iteration, and keep a list of their numbers.";
const TREE_TOKENS = 200_000;

/** Scripted policies play the tasks, so the figures are about the engine, not about a model. */
export async function recursion({ all: [program] }: Programs): Promise<readonly Figure[]> {
  if (!program) throw new Error("Cannot evaluate: there is no program; build one with deno task compile");
  return [
    ...await needles(program),
    ...await tasks(program),
    ...await growth(program),
    ...await limits(program),
    {
      ...exact(`64 calls at ${LATENCY_MS} ms, 8 at a time: over the ideal`, { unit: "%", value: 0, bar: 10 }),
      samples: await schedulingOverhead(5),
    },
    exact("what bare timers of 50 ms are over it now", { unit: "%", value: await timerOverhead(), bar: null }),
  ];
}

async function needles(program: Program): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  const firsts: number[] = [];
  const seconds: number[] = [];
  for (const bits of NEEDLE_BITS) {
    const played = await playPolicy(program, { task: needleTask(2 ** bits, 0.75) });
    const [first = NaN, second = NaN] = played.requestBytes;
    firsts.push(first);
    seconds.push(second);
    figures.push(...facts(`needle in 2^${bits}`, played));
  }
  const apart = Math.max(spread(firsts), spread(seconds));
  return [
    ...figures,
    exact("needle: requests of one iteration apart, 2^13 to 2^27", { unit: "B", value: apart, bar: 200 }),
  ];
}

async function tasks(program: Program): Promise<readonly Figure[]> {
  const all = [
    ["hint in 2^20, chunks", hintTask(2 ** 20)],
    ["10 000 lines counted", countTask(10_000)],
    ["pairs of 400 users", pairTask(4_000, 400)],
    ["3 facts in 10 000 documents", hopTask(10_000)],
  ] as const;
  const figures: Figure[] = [];
  for (const [what, task] of all) figures.push(...facts(what, await playPolicy(program, { task })));
  return figures;
}

async function growth(program: Program): Promise<readonly Figure[]> {
  const task = { request: GROWTH, context: "", json: false, isRight: (text: string) => text === "Made 200 texts." };
  const played = await playPolicy(program, { task });
  const bytes = played.requestBytes;
  return [
    ...facts("200 iterations", played),
    exact("200 iterations: request 200 ÷ request 20", {
      unit: "×",
      value: (bytes[199] ?? NaN) / (bytes[19] ?? NaN),
      bar: 1.15,
    }),
    exact("200 iterations: database", { unit: "MiB", value: played.databaseMb, bar: null }),
  ];
}

async function limits(program: Program): Promise<readonly Figure[]> {
  const budget = { depth: 3, iterations: 3 };
  const task = treeTask(3);
  const free = await playPolicy(program, { task, config: { budget } });
  const bound = await playPolicy(program, { task, config: { budget: { ...budget, tokens: TREE_TOKENS } } });
  const { input, output } = bound.result.usage;
  const over = Math.max(0, input + output - TREE_TOKENS) / bound.largestCall;
  return [
    ...facts("tree of depth 3, 4 below each", free),
    exact("tree of depth 3: queries", { unit: "", value: free.queries, bar: null }),
    exact("the same with a token limit: over it, in calls", { unit: "", value: over, bar: 1 }),
    exact("the same with a token limit: ledger apart from rows", {
      unit: "",
      value: bound.ledgerIsSum ? 0 : 1,
      bar: 0,
    }),
  ];
}

function facts(what: string, played: Played): readonly Figure[] {
  const { right, ledgerIsSum, result, requestBytes, wallMs, mostMb, plainCalls } = played;
  const wrong = (right ? 0 : 1) + (ledgerIsSum ? 0 : 1);
  const note = `${result.reason}: ${result.answer.slice(0, 80)}`;
  return [
    { ...exact(`${what}: wrong answers, wrong ledgers`, { unit: "", value: wrong, bar: 0 }), note },
    exact(`${what}: iterations`, { unit: "", value: result.iterations, bar: null }),
    ...plainCalls > 0 ? [exact(`${what}: plain calls`, { unit: "", value: plainCalls, bar: null })] : [],
    exact(`${what}: largest request`, { unit: "KB", value: Math.max(...requestBytes) / 1000, bar: null }),
    exact(`${what}: wall`, { unit: "s", value: wallMs / 1000, bar: null }),
    exact(`${what}: memory of the process tree`, { unit: "MiB", value: mostMb, bar: null }),
  ];
}

function spread(numbers: readonly number[]): number {
  return Math.max(...numbers) - Math.min(...numbers);
}

function exact(
  what: string,
  { unit, value, bar }: { readonly unit: string; readonly value: number; readonly bar: number | null },
): Figure {
  return { what, way: "part", unit, samples: [value], bar };
}
