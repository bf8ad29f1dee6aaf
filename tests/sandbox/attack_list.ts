import type { Attack } from "./attack.ts";
import { ENDURANCE } from "./attacks_endurance.ts";
import { OUTSIDE } from "./attacks_outside.ts";
import { REALM } from "./attacks_realm.ts";

/** The whole list of docs/sandbox.md, in the order of its table. Names are unique. */
export const ATTACKS: readonly Attack[] = [...OUTSIDE, ...REALM, ...ENDURANCE];
