/** What of the extension depends on the conversation; loads nothing. */
import type { EnvironmentView } from "@vis/extension";

const HINT = "Earlier conversations, their results and variables: history.search(text); doc(history) has the rest.";

/** Readers that found some: what lists them looks at every conversation, and this is asked for with every request. */
const FOUND = new WeakSet<object>();

const live = {
  /** A child query has its task and nothing before it. */
  activate: ({ db, depth }: EnvironmentView): boolean => db !== undefined && depth === 0,
  /** Said only where there is something to be found. */
  prompt: async ({ db }: EnvironmentView): Promise<string> => {
    if (db === undefined) return "";
    if (!FOUND.has(db) && (await db.conversations({ limit: 2 })).length > 1) FOUND.add(db);
    return FOUND.has(db) ? HINT : "";
  },
};
export default live;
