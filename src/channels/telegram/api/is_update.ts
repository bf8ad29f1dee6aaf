import type { Update } from "./wire.ts";

/** Whether it has the fields of every update; all other fields are checked where they are used. */
export function isUpdate(value: unknown): value is Update {
  return typeof value === "object" && value !== null && "update_id" in value && Number.isSafeInteger(value.update_id);
}
