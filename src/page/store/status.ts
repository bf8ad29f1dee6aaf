import { signal } from "@preact/signals";

/** The line below the thread. */
export const saidStatus = signal({ text: "", bad: false });

/** One line about progress or an error. */
export function say(text: string, { bad = false } = {}): void {
  saidStatus.value = { text, bad };
}
