import { parseArgs } from "node:util";
import { messageOf } from "../../src/domain/errors.ts";
import { visHome } from "../../src/app/settings/settings.ts";
import { describeCommit } from "../support/machine.ts";
import { sourceProgram } from "../support/programs.ts";
import { npmTasks } from "./npm_tasks.ts";
import { fitsDirectly } from "./ask_direct.ts";
import { playTask, type TaskResult } from "./play_task.ts";
import { resultTable } from "./result_table.ts";
import { selectTasks } from "./select_tasks.ts";
import { ALL_TASKS } from "./tasks/all_tasks.ts";
import { type AgentOptions, SCRIPTED } from "./vis_agent.ts";

const USAGE = `deno task bench eval [options]

  --provider <name>    who answers (default: ${SCRIPTED}, which plays prepared replies and is no model)
  --model <name>       model of that provider; its default otherwise
  --tasks <names>      families, ids or patterns such as "files/*", separated by commas (default: all)
  --npm <packages>     play packages of npm with a planted fault instead, such as minimist@1.2.8,nopt@7.2.0
  --seed <n>           chooses the fault of each package (default: 1)
  --arm <name>         vis, or direct: the whole input in one prompt without the engine, for tasks that fit
  --depth <n>          how deeply queries may be nested (budget.depth): 0 to 5
  --format <name>      json, or ts: fences of TypeScript (default: json)
  --parallel <n>       tasks at a time (default: 1)
  --timeout <seconds>  for each request (default: 600)
  --json <file>        write all results
  --markdown <file>    write the table
  --list               show the tasks`;

const OPTIONS = {
  provider: { type: "string", default: SCRIPTED },
  model: { type: "string" },
  tasks: { type: "string", default: "" },
  npm: { type: "string", default: "" },
  seed: { type: "string", default: "1" },
  arm: { type: "string", default: "vis" },
  depth: { type: "string" },
  format: { type: "string", default: "json" },
  parallel: { type: "string", default: "1" },
  timeout: { type: "string", default: "600" },
  json: { type: "string" },
  markdown: { type: "string" },
  list: { type: "boolean", default: false },
  help: { type: "boolean", default: false },
} as const;

type Terminal = Pick<Console, "log" | "error">;
type Options = ReturnType<typeof readOptions>;

/** Resolves with 1 if a prepared script did not solve its task, and with 2 for unusable options or packages. */
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
  else if (options.packages.length === 0) return await play(options, log);
  else {
    const { packages: refs, seed } = options;
    const made = await npmTasks(refs, { seed, env: Deno.env.toObject() }).catch(messageOf);
    if (typeof made === "string") {
      warn(made);
      return 2;
    }
    await using packages = made;
    return await play({ ...options, chosen: [...packages.tasks] }, log);
  }
  return 0;
}

function readOptions(args: readonly string[]) {
  const { values } = parseArgs({ args: [...args], options: OPTIONS, strict: true });
  const [names = [], packages = []] = [values.tasks, values.npm].map((list) =>
    list.split(",").map((name) => name.trim()).filter((name) => name !== "")
  );
  if (packages.length > 0 && (names.length > 0 || values.list || values.arm === "direct")) {
    throw new TypeError("Cannot use --npm with --tasks, --list or --arm direct: its tasks come from packages");
  }
  if (values.provider === SCRIPTED && values.model !== undefined) {
    throw new TypeError(
      `Cannot choose model ${values.model}: the provider ${SCRIPTED} has no model; choose another --provider`,
    );
  }
  const direct = oneOf("arm", values.arm, ["vis", "direct"]) === "direct";
  const depth = values.depth === undefined
    ? null
    : Number(oneOf("depth", values.depth, ["0", "1", "2", "3", "4", "5"]));
  if (direct && (depth !== null || values.format !== "json")) {
    throw new TypeError("Cannot use --depth or --format with --arm direct: this arm has no engine");
  }
  const chosen = selectTasks(ALL_TASKS, names).filter((task) => !direct || fitsDirectly(task.make()));
  if (chosen.length === 0) throw new TypeError("Cannot play with --arm direct: no chosen task fits into one prompt");
  return {
    ...values,
    ...{ direct, depth, chosen, packages },
    seed: positive("seed", values.seed),
    format: oneOf("format", values.format, ["json", "ts"] as const),
    parallel: positive("parallel", values.parallel),
    timeout: positive("timeout", values.timeout),
  };
}

function oneOf<T extends string>(name: string, text: string, choices: readonly T[]): T {
  const found = choices.find((choice) => choice === text);
  if (found !== undefined) return found;
  throw new RangeError(`Cannot use --${name} ${text}: the value is unknown; choose one of ${choices.join(", ")}`);
}

function positive(name: string, text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0) return number;
  throw new RangeError(`Cannot use --${name} ${text}: it is not a whole number above 0`);
}

async function play(options: Options, log: Terminal["log"]): Promise<number> {
  const { provider, model, chosen, parallel, timeout, json, markdown, direct, depth, format, arm } = options;
  const program = await sourceProgram();
  const home = depth === null ? null : await homeOfDepth(depth, { program, scripted: provider === SCRIPTED });
  const agent = { program, provider, model: model ?? null, timeoutSeconds: timeout, direct, format, home };
  const results = await playAll(chosen, { agent, parallel, log }).finally(async () => {
    if (home !== null) await Deno.remove(home, { recursive: true });
  });
  const commit = await describeCommit();
  const who = provider === SCRIPTED
    ? "Prepared replies, played through the program: they show that the tasks can be solved, and nothing about a model."
    : `${provider}, ${model ?? "its default model"}.`;
  const date = new Date().toISOString().slice(0, 10);
  const how = [`arm ${arm}`, `format ${format}`, depth === null ? "" : `depth ${depth}`].filter(Boolean).join(", ");
  const table = `${who} ${date}, commit ${commit}, ${how}.\n\n${resultTable(results)}`;
  log(`\n${table}`);
  if (markdown !== undefined) await Deno.writeTextFile(markdown, `${table}\n`);
  if (json !== undefined) {
    const all = { provider, model: model ?? null, date, commit, arm, format, depth, results };
    await Deno.writeTextFile(json, `${JSON.stringify(all, null, 2)}\n`);
  }
  return provider === SCRIPTED && results.some(({ solved }) => !solved) ? 1 : 0;
}

async function homeOfDepth(
  depth: number,
  { program, scripted }: { readonly program: AgentOptions["program"]; readonly scripted: boolean },
): Promise<string> {
  const home = await Deno.makeTempDir({ prefix: "vis-eval-home-" });
  const own = scripted ? null : visHome(Deno.env.toObject());
  for (const name of own === null ? [] : ["config.jsonc", "auth.json"]) {
    await Deno.copyFile(`${own}/${name}`, `${home}/${name}`).catch(() => {});
  }
  const { success, stderr } = await new Deno.Command(program.path, {
    args: [...program.args, "config", "set", "budget.depth", String(depth)],
    env: { VIS_HOME: home },
    stdout: "null",
    stderr: "piped",
  }).output();
  if (!success) throw new Error(`Cannot set budget.depth: ${new TextDecoder().decode(stderr).trim()}`);
  return home;
}

async function playAll(
  tasks: Options["chosen"],
  { agent, parallel, log }: {
    readonly agent: AgentOptions & { readonly direct: boolean };
    readonly parallel: number;
    readonly log: Terminal["log"];
  },
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
