import type { Conversations } from "../../../conversation/conversations.ts";
import { amounts } from "../text/amounts.ts";
import { flat } from "../widgets/flat.ts";

type StoredIteration = Awaited<ReturnType<Conversations["iterations"]>>[number];

/** An iteration as a list shows it. */
export interface IterationSummary {
  readonly iterationId: string;
  readonly position: number;
  readonly name: string;
  readonly facts: readonly string[];
}

/** Reads iterations for the list. */
export async function readSteps(
  conversations: Conversations,
  { queryId, after, limit }: { readonly queryId: string; readonly after: number; readonly limit: number },
): Promise<readonly IterationSummary[]> {
  return (await conversations.iterations(queryId, { after, limit })).map(step);
}

/** Does not keep the values of its blocks. */
function step(iteration: StoredIteration): IterationSummary {
  const { iterationId, position, metadata, status, traces, blocks, thinking, error } = iteration;
  const outcome = typeof metadata["outcome"] === "string" ? metadata["outcome"] : status;
  const pending = metadata["pendingBlocks"];
  const code = blocks[0]?.code ?? (Array.isArray(pending) ? String(pending[0] ?? "") : "");
  const about = [code, error ?? "", thinking].find((text) => text.trim() !== "") ?? "";
  const usage = traces.findLast(({ ok }) => ok)?.usage ?? null;
  const cost = metadata["costUsd"];
  const ms = [...traces.map((one) => one.ms), ...blocks.map(({ result }) => result.ms)].reduce((a, b) => a + b, 0);
  return {
    iterationId,
    position,
    name: `${position + 1} ${flat(outcome, 40)}${about === "" ? "" : ` · ${flat(about, 300)}`}`,
    facts: [
      amounts.time(ms),
      usage === null || usage.input + usage.output === 0
        ? ""
        : `${usage.input.toLocaleString("en")} in ${usage.output.toLocaleString("en")} out`,
      typeof cost === "number" && cost > 0 ? amounts.cost(cost) : "",
    ],
  };
}
