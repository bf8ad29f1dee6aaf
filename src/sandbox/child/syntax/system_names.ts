import type { SYSTEM_VARIABLES } from "../../../domain/query/variable.ts";

/** Variables that Vis sets before every call; no block may declare them. */
export const SYSTEM_NAMES: readonly (typeof SYSTEM_VARIABLES)[number][] = [
  "$query",
  "$reasoning",
  "$answer",
  "$schema",
];
