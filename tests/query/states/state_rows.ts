import type { StateRow } from "../_play.ts";
import { BETWEEN } from "../state_rows_between.ts";
import { CALLS } from "./state_rows_calls.ts";
import { ENDS } from "../state_rows_ends.ts";
import { ITERATING } from "../state_rows_iterating.ts";

/** Transitions of a query between its iterations. */
export const STATE_ROWS: readonly StateRow[] = [...ITERATING, ...CALLS, ...BETWEEN, ...ENDS];
