import type { Family } from "./family.ts";
import { kills } from "./kills.ts";
import { schedules } from "./schedules.ts";

/** In the order of the table. */
export const FAMILIES: readonly Family[] = [kills, schedules];
