import { parseArgs } from "node:util";
import { messageOf } from "../../src/domain/errors.ts";
import { describeCommit } from "../support/machine.ts";
import { sourceProgram } from "../support/programs.ts";
import { playTask, type TaskResult } from "./play_task.ts";
import { resultTable } from "./result_table.ts";
import { selectTasks } from "./select_tasks.ts";
import { ALL_TASKS } from "./tasks/all_tasks.ts";
import { type AgentOptions, SCRIPTED } from "./vis_agent.ts";

const USAGE = `deno task bench eval [options]

  --provider <name>    who answers (default: ${SCRIPTED}, which plays prepared replies and is no model)
  --model <name>       model of that provider; its default otherwise
  --tasks <names>      families, ids or patterns such as "files/*", separated by commas (default: all)
  --parallel <n>       tasks at a time (default: 1)
  --timeout <seconds>  for each request (default: 600)
  --json <file>        write all results
  --markdown <file>    write the table
  --list               show the tasks`;

const OPTIONS = {
  provider: { type: "string", default: SCRIPTED },
  model: { type: "string" },
  tasks: { type: "string", default: "" },
  parallel: { type: "string", default: "1" },
  timeout: { type: "string", default: "600" },
  json: { type: "string" },
  markdown: { type: "string" },
  list: { type: "boolean", default: false },
  help: { type: "boolean", default: false },
} as const;

type Terminal = Pick<Console, "log" | "error">;
type Options = ReturnType<typeof readOptions>;

/** `deno task bench eval`: 0 if all was played, 1 if a script did not solve its task, 2 for options that do not exist. */
export async function evaluate(args: readonly string[], { log, error: warn }: Terminal = console): Promise<number> {
  let options: Options;
  try {
    options = readOptions(args);
  } catch (error) {
    warn(`${messageOf(error)}\n\n${USAGE}`);
    return 2;
  }
  if (options.help) log(USAGE);
  else if (options.list) log(options.chosen.map(({ id }) => id).join("\n"));
  else return await play(options, log);
  return 0;
}

function readOptions(args: readonly string[]) {
  const { values } = parseArgs({ args: [...args], options: OPTIONS, strict: true });
  const names = values.tasks.split(",").map((name) => name.trim()).filter((name) => name !== "");
  if (values.provider === SCRIPTED && values.model !== undefined) {
    throw new TypeError(`Cannot choose model ${values.model}: --provider is ${SCRIPTED}, which has no model`);
  }
  return {
    ...values,
    chosen: selectTasks(ALL_TASKS, names),
    parallel: positive("parallel", values.parallel),
    timeout: positive("timeout", values.timeout),
  };
}

function positive(name: string, text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0) return number;
  throw new RangeError(`Cannot use --${name} ${text}: it must be a whole number above 0`);
}

async function play(options: Options, log: Terminal["log"]): Promise<number> {
  const { provider, model, chosen, parallel, timeout, json, markdown } = options;
  const agent = { program: await sourceProgram(), provider, model: model ?? null, timeoutSeconds: timeout };
  const results = await playAll(chosen, { agent, parallel, log });
  const commit = await describeCommit();
  const who = provider === SCRIPTED
    ? "Prepared replies, played through the program: they show that the tasks can be solved, and nothing about a model."
    : `${provider}, ${model ?? "its default model"}.`;
  const table = `${who} Commit ${commit}.\n\n${resultTable(results)}`;
  log(`\n${table}`);
  if (markdown !== undefined) await Deno.writeTextFile(markdown, `${table}\n`);
  if (json !== undefined) {
    const all = { provider, model: model ?? null, commit, results };
    await Deno.writeTextFile(json, `${JSON.stringify(all, null, 2)}\n`);
  }
  return provider === SCRIPTED && results.some(({ solved }) => !solved) ? 1 : 0;
}

async function playAll(
  tasks: Options["chosen"],
  { agent, parallel, log }: { readonly agent: AgentOptions; readonly parallel: number; readonly log: Terminal["log"] },
): Promise<readonly TaskResult[]> {
  const waiting = [...tasks];
  const results: TaskResult[] = [];
  const playNext = async (): Promise<void> => {
    for (let task = waiting.shift(); task; task = waiting.shift()) {
      const result = await playTask(task, agent);
      results.push(result);
      const { id, solved, reason, iterations, seconds } = result;
      const count = `${results.length}/${tasks.length}`;
      log(
        `${count}  ${solved ? "solved" : "NOT SOLVED"}  ${id}  ${iterations} it, ${seconds.toFixed(1)} s  ${reason}`,
      );
    }
  };
  await Promise.all(Array.from({ length: parallel }, playNext));
  const order = tasks.map(({ id }) => id);
  return results.toSorted((a, b) => order.indexOf(a.id) - order.indexOf(b.id));
}
