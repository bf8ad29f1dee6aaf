import { Thread } from "./thread.ts";

/** The thread of this tab. */
export const thread = new Thread();
