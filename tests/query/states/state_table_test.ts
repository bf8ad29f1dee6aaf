import { STATE_ROWS } from "./state_rows.ts";

for (const { state, event, next, drive } of STATE_ROWS) {
  Deno.test(`QueryLoop ${state}: ${event} → ${next}`, drive);
}
