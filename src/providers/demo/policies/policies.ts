import { askChunks } from "./ask_chunks.ts";
import { countLabels } from "./count_labels.ts";
import { countMentions } from "./count_mentions.ts";
import { defineFunction } from "./define_function.ts";
import { editFile } from "./edit_file.ts";
import { findNeedle } from "./find_needle.ts";
import { followFacts } from "./follow_facts.ts";
import { growList } from "./grow_list.ts";
import { meanOfColumn } from "./mean_of_column.ts";
import { pairUsers } from "./pair_users.ts";
import { readAtOnce } from "./read_at_once.ts";
import { readOneByOne } from "./read_one_by_one.ts";
import { reuseFunction } from "./reuse_function.ts";
import { sumTree } from "./sum_tree.ts";
import type { Policy } from "./policy.ts";

/** Everything that the demo can do; the first policy that accepts a request handles it. */
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
