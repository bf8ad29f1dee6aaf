import type { AgentTask } from "../agent_task.ts";
import { DATA_TASKS } from "./files_data.ts";
import { LOG_TASKS } from "./files_logs.ts";
import { BUG_TASKS } from "./fixing_bugs.ts";
import { FAULT_TASKS } from "./fixing_faults.ts";
import { REFACTORING_TASKS } from "./fixing_refactoring.ts";
import { COUNTING_TASKS } from "./counting.ts";
import { FACT_TASKS } from "./long_facts.ts";
import { STRUCTURE_TASKS } from "./long_structures.ts";
import { BOARD_PUZZLES } from "./puzzles_boards.ts";
import { NUMBER_PUZZLES } from "./puzzles_numbers.ts";
import { TALK_TASKS } from "./series_talk.ts";
import { WORK_TASKS } from "./series_work.ts";

export const ALL_TASKS: readonly AgentTask[] = [
  ...NUMBER_PUZZLES,
  ...BOARD_PUZZLES,
  ...LOG_TASKS,
  ...DATA_TASKS,
  ...BUG_TASKS,
  ...FAULT_TASKS,
  ...REFACTORING_TASKS,
  ...FACT_TASKS,
  ...STRUCTURE_TASKS,
  ...TALK_TASKS,
  ...WORK_TASKS,
  ...COUNTING_TASKS,
];
