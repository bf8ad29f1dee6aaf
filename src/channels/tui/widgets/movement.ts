import { type KeyId, matchesKey } from "@earendil-works/pi-tui";

const KEYS = ["up", "down", "pageUp", "pageDown", "home", "end"] as const satisfies readonly KeyId[];

export type Movement = typeof KEYS[number];

/** Which movement through a list or a text the key means; null for any other key. */
export function movement(data: string): Movement | null {
  return KEYS.find((key) => matchesKey(data, key)) ?? null;
}
