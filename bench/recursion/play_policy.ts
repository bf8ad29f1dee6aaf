import { join } from "node:path";
import type { QueryResult } from "../../src/domain/query/query_schemas.ts";
import { openStore } from "../../src/persistence/open_store.ts";
import type { EvalTask } from "../../tests/helpers/evaluation/eval_data.ts";
import { evalReply } from "../../tests/helpers/evaluation/eval_reply.ts";
import { rowsSum } from "../../tests/helpers/rows_sum.ts";
import { proportionalMb, treeOf } from "../support/process_tree.ts";
import type { Program } from "../support/programs.ts";
import { visRun } from "../support/vis_run.ts";

export interface Played {
  readonly result: QueryResult;
  readonly right: boolean;
  readonly requestBytes: readonly number[];
  readonly plainCalls: number;
  readonly queries: number;
  readonly wallMs: number;
  readonly mostMb: number;
  readonly databaseMb: number;
  readonly ledgerIsSum: boolean;
  readonly largestCall: number;
}

export async function playPolicy(
  program: Program,
  { task, config = {} }: { readonly task: EvalTask; readonly config?: Readonly<Record<string, unknown>> },
): Promise<Played> {
  const folder = await Deno.makeTempDir({ prefix: "vis-eval-" });
  try {
    const [workspace, home] = [join(folder, "work"), join(folder, "home")];
    await Deno.mkdir(workspace);
    const file = join(folder, task.json ? "context.json" : "context.txt");
    await Deno.writeTextFile(file, task.context);
    const requestBytes: number[] = [];
    let mostMb = 0;
    const run = await visRun(program, {
      workspace,
      home,
      config,
      prompt: task.request,
      args: ["--output", "json", ...task.context === "" ? [] : ["--context", file]],
      anyEnd: true,
      handler: ({ texts, bytes }, pid) => {
        if (texts.length >= 4) {
          requestBytes.push(bytes);
          mostMb = Math.max(mostMb, proportionalMb(treeOf(pid)));
        }
        return evalReply(texts);
      },
    });
    const result: QueryResult = JSON.parse(run.stdout);
    const path = join(home, "vis/vis.db");
    const rows = await readRows(path, result);
    const right = result.status === "done" && task.isRight(result.answer);
    const databaseMb = (await Deno.stat(path)).size / 2 ** 20;
    return { result, right, requestBytes, wallMs: run.wallMs, mostMb, databaseMb, ...rows };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function readRows(path: string, { queryId, usage }: QueryResult) {
  const store = await openStore({ path });
  try {
    const sum = await rowsSum(store, queryId);
    const { plainCalls, queries, largestCall } = sum;
    const keys = ["input", "output", "cached", "reasoning", "calls"] as const;
    return { plainCalls, queries, largestCall, ledgerIsSum: keys.every((key) => sum.usage[key] === usage[key]) };
  } finally {
    await store.close();
  }
}
