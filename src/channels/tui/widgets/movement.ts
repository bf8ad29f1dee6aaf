import { type KeyId, matchesKey } from "@earendil-works/pi-tui";

const KEYS = ["up", "down", "pageUp", "pageDown", "home", "end"] as const satisfies readonly KeyId[];

export type Movement = typeof KEYS[number];

/** Which of the keys that move through a list or a text this is, null for all others. */
export function movement(data: string): Movement | null {
  return KEYS.find((key) => matchesKey(data, key)) ?? null;
}
