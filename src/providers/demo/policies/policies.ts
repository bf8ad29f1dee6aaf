import { compute } from "./compute.ts";
import { countFiles } from "./count_files.ts";
import { countMentions } from "./count_mentions.ts";
import { defineFunction } from "./define_function.ts";
import { editFile } from "./edit_file.ts";
import { explain } from "./explain.ts";
import { findNeedle } from "./find_needle.ts";
import { listFolder } from "./list_folder.ts";
import { meanOfColumn } from "./mean_of_column.ts";
import { reuseFunction } from "./reuse_function.ts";
import type { Policy } from "./policy.ts";

/** Everything that the demo can do; the first policy that accepts a request handles it. */
export const POLICIES: readonly Policy[] = [
  meanOfColumn,
  defineFunction,
  reuseFunction,
  editFile,
  findNeedle,
  countMentions,
  countFiles,
  listFolder,
  compute,
  explain,
];
