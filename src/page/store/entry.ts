import { signal } from "@preact/signals";
import { Refused } from "./api.ts";
import { drawn, elements } from "./elements.ts";

/** Whether the page is shown or asks for a token, with the reason if it is not the first time. */
export const entry = signal<{ readonly shows: "nothing" | "token" | "page"; readonly why: string }>({
  shows: "nothing",
  why: "",
});

export function askToken(why = ""): void {
  entry.value = { shows: "token", why };
  void drawn().then(() => elements.token.current?.focus());
}

/** Reports every error; a refused token is handled separately. */
export async function guarded<T>(work: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refused && error.status === 401) return;
    const message = error instanceof Error ? error.message : String(error);
    if (entry.value.shows === "page") say(message, { bad: true });
    else askToken(message);
  }
}

/** The line below the thread. */
export const saidStatus = signal({ text: "", bad: false });

/** One line about progress or an error. */
export function say(text: string, { bad = false } = {}): void {
  saidStatus.value = { text, bad };
}
