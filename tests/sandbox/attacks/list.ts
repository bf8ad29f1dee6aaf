import type { Attack } from "./attack.ts";
import { ENDURANCE } from "./endurance.ts";
import { OUTSIDE } from "./outside.ts";
import { REALM } from "./realm.ts";

/** The whole list of docs/internals/sandbox.md, in the order of its table. Names are unique. */
export const ATTACKS: readonly Attack[] = [...OUTSIDE, ...REALM, ...ENDURANCE];
