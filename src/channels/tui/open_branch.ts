import type { Conversation as Branch } from "../../conversation/conversations.ts";
import { addUsage } from "../../domain/query/model_call.ts";
import { reasonText, stoppedText } from "../../domain/query/outcomes.ts";
import type { StoredQuery } from "../../domain/query/stored_query.ts";
import { NOTHING_SPENT, type SessionSpend } from "./chat.ts";
import { AnswerEntry } from "./entries/answer_entry.ts";
import { endLine } from "./entries/end_line.ts";
import type { TranscriptEntry } from "./entries/entry.ts";
import { LineEntry } from "./entries/line_entry.ts";
import { OlderEntry, type OlderParts } from "./entries/older_entry.ts";
import { RequestEntry } from "./entries/request_entry.ts";
import type { DisplayOptions } from "./entries/shown.ts";

export interface OpenedBranch {
  readonly entries: readonly TranscriptEntry[];
  readonly spent: SessionSpend;
  readonly lastAnswer: string;
  /** The last request among the entries. */
  readonly asked: TranscriptEntry | null;
}

/** A stored conversation for the screen: requests, answers and how each query ended; iterations are read when they are
 * viewed. Rejects with `StoreError`. */
export async function openBranch(
  branch: Branch,
  parts: OlderParts,
): Promise<OpenedBranch> {
  const { conversations, shown } = parts;
  const [queries, turns] = await Promise.all([
    conversations.queries(branch),
    conversations.stored.turns(branch.branchId),
  ]);
  const counts = new Map(turns.map(({ queryId, iterations }) => [queryId, iterations]));
  const entries = queries.flatMap((query): TranscriptEntry[] => {
    const count = counts.get(query.queryId) ?? 0;
    return [
      new RequestEntry(query.text, { shown }),
      ...(count > 0 ? [new OlderEntry(query.queryId, { from: 0, to: count }, parts)] : []),
      ...query.steered.filter(({ iteration }) => iteration > count)
        .map(({ text }) => new RequestEntry(text, { label: "sent while running", shown })),
      ...endEntries(query, shown),
    ];
  });
  return {
    entries,
    spent: queries.reduce((sum, { usage, costUsd }) => ({
      ...sum,
      usage: addUsage(sum.usage, usage),
      costUsd: sum.costUsd + (costUsd ?? 0),
    }), NOTHING_SPENT),
    lastAnswer: queries.findLast(({ running, status }) => !running && status !== "interrupted")?.answer ?? "",
    asked: entries.findLast((entry) => entry instanceof RequestEntry) ?? null,
  };
}

function endEntries(query: StoredQuery, shown: () => DisplayOptions): readonly TranscriptEntry[] {
  const { theme } = shown();
  if (query.running) return [new LineEntry("still running in another process", theme.warn)];
  if (query.status === "interrupted") {
    return [
      new LineEntry(reasonText(query.reason), theme.warn),
    ];
  }
  const answer = new AnswerEntry(shown);
  answer.settle(query.answer, { plain: query.answerType === "text" });
  const stopped = stoppedText(query);
  return [
    answer,
    ...(stopped === "" ? [] : [new LineEntry(stopped, theme.warn)]),
    ...query.notes.map((note) => new LineEntry(note, theme.dim)),
    new LineEntry(endLine(query), query.status === "error" ? theme.bad : theme.dim),
  ];
}
