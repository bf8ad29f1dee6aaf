import { uuidv7 } from "uuidv7";

/** A new identifier: UUIDv7 as text, which sorts by time of creation. */
export function newId(): string {
  return uuidv7();
}
