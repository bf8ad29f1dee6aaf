import { type CallOutcome, defineExtension, type EnvironmentView, fn, z } from "@vis/extension";
import {
  askAll,
  type AskAllOptions,
  askOne,
  type ChildRunOptions,
  type Failure,
  runAll,
  runOne,
  type Task,
} from "./ask.ts";
import { chunk, type ChunkOptions, mapChunks, type MapOptions, reduceChunks } from "./chunks.ts";

const text = z.string().min(1);
const size = z.number().int().min(100).optional();
const overlap = z.number().int().min(0).optional();
const model = z.string().min(1).optional();
const Ask = z.strictObject({ model, system: z.string().optional() }).optional();
const Run = z.strictObject({
  vars: z.array(z.string()).optional(),
  model,
  maxIterations: z.number().int().min(1).max(1000).optional(),
});
const parts = z.union([z.string(), z.array(z.string())]);
const Slot = "(string | {error})[]";
const runsNone = ({ depth, maxDepth = Infinity }: EnvironmentView): boolean => depth >= maxDepth;

export default defineExtension({
  namespace: "vis.rlm",
  alias: { ns: "vis.ext.rlm", alias: "rlm" },
  doc: "Calls models from code, and starts sub-queries, each with its own sandbox.",
  group: "models",
  version: "0.1.0",
  author: "Vis",
  license: "Apache-2.0",
  readOnly: true,
  prompt: "Models, for what code cannot decide. They see only what you pass. Long texts: mapChunks, then reduceChunks.",
  shown: 4,
  symbols: [
    fn("ask", (env: EnvironmentView, prompt: string, options?: AskAllOptions) => askOne(env, prompt, options), {
      doc: "One call.",
      untimed: true,
      action: { doing: "asking a model", done: "asked a model", things: "times", named: 0 },
      args: z.tuple([text.describe("prompt"), Ask]),
      returns: "string",
    }),
    fn(
      "mapChunks",
      (env: EnvironmentView, of: string | string[], ask: string, options?: MapOptions) =>
        mapChunks(env, of, { instruction: ask, ...options }),
      {
        doc: "Asks it of each 100000 characters.",
        untimed: true,
        action: { doing: "asking a model", done: "asked a model", things: "times", named: 0 },
        outcome: settled("answers"),
        args: z.tuple([
          parts.describe("text"),
          text.describe("instruction"),
          z.strictObject({ size, overlap, model, system: z.string().optional() }).optional(),
        ]),
        misnamed: { message: "error", reason: "error" },
        returns: Slot,
      },
    ),
    fn(
      "reduceChunks",
      (env: EnvironmentView, of: unknown[], ask: string, options?: MapOptions) =>
        reduceChunks(env, of, { instruction: ask, ...options }),
      {
        doc: "Merges them.",
        untimed: true,
        action: { doing: "asking a model", done: "asked a model", things: "times", named: 0 },
        args: z.tuple([
          z.array(z.unknown()).min(1).describe("texts"),
          text.describe("instruction"),
          z.strictObject({ size, model, system: z.string().optional() }).optional(),
        ]),
        returns: "string",
      },
    ),
    fn("run", (env: EnvironmentView, task: string, options?: ChildRunOptions) => runOne(env, task, options), {
      doc: "A sub-query with copies of vars.",
      unlisted: runsNone,
      untimed: true,
      action: { doing: "delegating", done: "delegated", things: "tasks" },
      args: z.tuple([text.describe("task"), Run.optional()]),
      returns: "string",
    }),
    fn("askAll", (env: EnvironmentView, prompts: string[], options?: AskAllOptions) => askAll(env, prompts, options), {
      doc: "In parallel.",
      untimed: true,
      action: { doing: "asking a model", done: "asked a model", things: "times", named: 0 },
      outcome: settled("answers"),
      args: z.tuple([z.array(text).describe("prompts"), Ask]),
      misnamed: { message: "error", reason: "error" },
      returns: Slot,
    }),
    fn("runAll", (env: EnvironmentView, tasks: Task[], options?: ChildRunOptions) => runAll(env, tasks, options), {
      doc: "Sub-queries in parallel, order kept; a task is a string, or {task, vars, model, maxIterations}.",
      unlisted: runsNone,
      untimed: true,
      action: { doing: "delegating", done: "delegated", things: "lists of tasks", named: 0 },
      outcome: settled("tasks"),
      args: z.tuple([
        z.array(z.union([text, Run.extend({ task: text })])).describe("tasks"),
        Run.optional(),
      ]),
      misnamed: { message: "error", reason: "error" },
      returns: Slot,
      examples: ['await rlm.runAll([{task: "Sum up a", vars: ["a"]}, {task: "Sum up b", vars: ["b"]}])'],
    }),
    fn("chunk", (_env: EnvironmentView, of: string, options?: ChunkOptions) => chunk(of, options), {
      doc: "Pieces of at most size characters (100000), cut at line ends or blanks where there are some.",
      untimed: true,
      args: z.tuple([z.string().describe("text"), z.strictObject({ size, overlap }).optional()]),
      returns: "string[]",
      examples: ["await rlm.chunk(log, {size: 20000})"],
    }),
  ],
});

function settled(things: string): (slots: readonly (string | Failure)[]) => CallOutcome {
  return (slots) => {
    const errors = slots.flatMap((slot) => typeof slot === "string" ? [] : [slot.error]);
    const failed = errors.length === 0 ? "" : `, ${errors.length} failed`;
    return { text: `${slots.length} ${things}${failed}`, ok: errors.length === 0, output: errors.join("\n") };
  };
}
