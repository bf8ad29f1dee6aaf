import { dirname, join } from "node:path";
import { messageOf } from "../../src/domain/errors.ts";
import type { QueryResult } from "../../src/domain/query/query_schemas.ts";
import { openStore } from "../../src/persistence/open_store.ts";
import type { AgentTask, Family, Files } from "./agent_task.ts";
import { countWaste } from "./count_waste.ts";
import { type Answered, askDirect } from "./ask_direct.ts";
import { type AgentOptions, askVis } from "./vis_agent.ts";

export interface TaskResult {
  readonly id: string;
  readonly family: Family;
  readonly solved: boolean;
  readonly score: number;
  readonly reason: string;
  readonly requests: number;
  readonly iterations: number;
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly costUsd: number | null;
  readonly refusedFinals: number;
  readonly repeatedBlocks: number;
  readonly seconds: number;
}

export async function playTask(
  task: AgentTask,
  { direct = false, ...options }: AgentOptions & { readonly direct?: boolean },
): Promise<TaskResult> {
  const begun = performance.now();
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "vis-eval-" }));
  const results: (Answered & Partial<Pick<QueryResult, "queryId" | "conversationId">>)[] = [];
  const credit = { score: 0 };
  try {
    const reason = await playTurns(task, { folder, results, options, direct, credit }).catch(messageOf);
    const waste = await wasteOf(join(folder, "vis.db"), results.flatMap(({ queryId = [] }) => queryId));
    const sum = (of: (result: Answered) => number): number => results.reduce((total, one) => total + of(one), 0);
    return {
      id: task.id,
      family: task.family,
      solved: reason === "",
      score: reason === "" ? 1 : credit.score,
      reason,
      requests: results.length,
      iterations: sum(({ iterations }) => iterations),
      input: sum(({ usage }) => usage.input),
      output: sum(({ usage }) => usage.output),
      cached: sum(({ usage }) => usage.cached),
      costUsd: results.some(({ costUsd }) => costUsd === null) ? null : sum(({ costUsd }) => costUsd ?? 0),
      ...waste,
      seconds: (performance.now() - begun) / 1000,
    };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function playTurns(
  task: AgentTask,
  { folder, results, options, direct, credit }: {
    readonly folder: string;
    readonly results: (Answered & Partial<Pick<QueryResult, "queryId" | "conversationId">>)[];
    readonly options: AgentOptions;
    readonly direct: boolean;
    readonly credit: { score: number };
  },
): Promise<string> {
  const made = task.make();
  const { files, context, turns } = made;
  const workspace = join(folder, "work");
  await Deno.mkdir(workspace);
  await writeFiles(workspace, files);
  let contextFile: string | null = null;
  if (context !== "") {
    contextFile = join(folder, /^[[{]/.test(context) ? "context.json" : "context.txt");
    await Deno.writeTextFile(contextFile, context);
  }
  for (const [at, { request, script, expects }] of turns.entries()) {
    const result = direct ? await askDirect(made, options) : await askVis(options, {
      request,
      script,
      workspace,
      database: join(folder, "vis.db"),
      home: join(folder, "home"),
      contextFile: at === 0 ? contextFile : null,
      conversationId: results[0]?.conversationId ?? null,
    });
    results.push(result);
    const wrong = result.status === "done"
      ? await expects.check({ answer: result.answer, workspace })
      : `ended as ${result.reason}: ${result.answer.slice(0, 200)}`;
    if (wrong !== "") credit.score = expects.credit?.({ answer: result.answer, workspace }) ?? 0;
    if (wrong !== "") return turns.length === 1 ? wrong : `request ${at + 1}: ${wrong}`;
  }
  return "";
}

async function wasteOf(path: string, queryIds: readonly string[]) {
  if (queryIds.length === 0) return { refusedFinals: 0, repeatedBlocks: 0 };
  const store = await openStore({ path });
  try {
    return await countWaste(store, queryIds);
  } finally {
    await store.close();
  }
}

export async function writeFiles(workspace: string, files: Files): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await Deno.mkdir(dirname(join(workspace, path)), { recursive: true });
    await Deno.writeTextFile(join(workspace, path), text);
  }
}
