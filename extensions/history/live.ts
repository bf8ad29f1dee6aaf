/** The parts of the extension that depend on the conversation; loads nothing. */
import type { EnvironmentView } from "@vis/extension";

const HINT = "Earlier conversations and their variables.";

/** Readers that have found earlier conversations: listing them looks at every one, and this is called with every
 * request. */
const FOUND = new WeakSet<object>();

const live = {
  /** A child query has only its task and no history. */
  activate: ({ db, depth }: EnvironmentView): boolean => db !== undefined && depth === 0,
  /** Empty unless there is something to find. */
  prompt: async ({ db }: EnvironmentView): Promise<string> => {
    if (db === undefined) return "";
    if (!FOUND.has(db) && (await db.conversations({ limit: 2 })).length > 1) FOUND.add(db);
    return FOUND.has(db) ? HINT : "";
  },
};
export default live;
