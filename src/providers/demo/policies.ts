import { countMentions } from "./_count_mentions.ts";
import { defineFunction } from "./_define_function.ts";
import { editFile } from "./_edit_file.ts";
import { growList } from "./_grow_list.ts";
import { meanOfColumn } from "./_mean_of_column.ts";
import { readAtOnce } from "./_read_at_once.ts";
import { readOneByOne } from "./_read_one_by_one.ts";
import { reuseFunction } from "./_reuse_function.ts";
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
  countMentions,
];
