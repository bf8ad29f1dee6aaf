import type { Update } from "./wire.ts";

/** Whether it has what every update has; the rest is read with care where it is used. */
export function isUpdate(value: unknown): value is Update {
  return typeof value === "object" && value !== null && "update_id" in value && Number.isSafeInteger(value.update_id);
}
