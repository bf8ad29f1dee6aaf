import { demoReply } from "../../../src/providers/demo.ts";
import { askChunks } from "./ask_chunks.ts";
import { countLabels } from "./count_labels.ts";
import { evalContext } from "./eval_context.ts";
import { followFacts } from "./follow_facts.ts";
import { growList } from "./grow_list.ts";
import { oracle } from "./oracle.ts";
import { pairUsers } from "./pair_users.ts";
import { readAtOnce } from "./read_at_once.ts";
import { readOneByOne } from "./read_one_by_one.ts";
import { sumTree } from "./sum_tree.ts";
import { type EvalPolicy, replyText } from "./eval_policy.ts";

const ALL: readonly EvalPolicy[] = [
  readOneByOne,
  readAtOnce,
  growList,
  askChunks,
  countLabels,
  pairUsers,
  followFacts,
  sumTree,
];

const OF_AN_ITERATION = 4;

export function evalReply(texts: readonly string[]): string {
  const last = texts.at(-1) ?? "";
  if (texts.length < OF_AN_ITERATION) return oracle(last);
  const request = texts[1] ?? "";
  const policy = ALL.find(({ takes }) => takes.test(request));
  if (!policy) return demoReply(texts);
  return replyText(policy.decide({ request, context: evalContext(last) }));
}
