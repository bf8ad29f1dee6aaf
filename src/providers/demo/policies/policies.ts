import { askChunks } from "./_ask_chunks.ts";
import { countLabels } from "./_count_labels.ts";
import { countMentions } from "./_count_mentions.ts";
import { defineFunction } from "./_define_function.ts";
import { editFile } from "./_edit_file.ts";
import { findNeedle } from "./_find_needle.ts";
import { followFacts } from "./_follow_facts.ts";
import { growList } from "./_grow_list.ts";
import { meanOfColumn } from "./_mean_of_column.ts";
import { pairUsers } from "./_pair_users.ts";
import { readAtOnce } from "./_read_at_once.ts";
import { readOneByOne } from "./_read_one_by_one.ts";
import { reuseFunction } from "./_reuse_function.ts";
import { sumTree } from "./_sum_tree.ts";
import type { Policy } from "./policy.ts";

/** Everything the demo can do; the first that takes a request plays it. */
export const POLICIES: readonly Policy[] = [
  meanOfColumn,
  defineFunction,
  reuseFunction,
  editFile,
  readOneByOne,
  readAtOnce,
  growList,
  findNeedle,
  askChunks,
  countLabels,
  pairUsers,
  followFacts,
  sumTree,
  countMentions,
];
