/** The parts of the extension that depend on the conversation; loads little. */
import type { EnvironmentView } from "@vis/extension";
import { type Note, readNotes } from "./notes.ts";

/** Limit: every call of a query carries them, and the newest are shown. */
const MAX_CHARS = 2_000;

const live = {
  /** A child query has only its task and no history. */
  activate: ({ depth }: EnvironmentView): boolean => depth === 0,
  /** Empty until there is a note. */
  prompt: async (env: EnvironmentView): Promise<string> => {
    const [project, user] = await Promise.all([readNotes(env, "project"), readNotes(env, "user")]);
    if (project.length + user.length === 0) return "";
    return [
      "Notes of earlier conversations; keep what later ones must know with memo.add(text), drop with memo.remove(id).",
      ...section("project", project),
      ...section("user", user),
    ].join("\n");
  },
};
export default live;

function section(scope: string, notes: readonly Note[]): readonly string[] {
  if (notes.length === 0) return [];
  let length = 0;
  const lines = notes.map(({ id, text }) => `- [${id}] ${text}`).reverse()
    // The newest one is always shown: its id must not push it out.
    .filter((line, at) => (length += line.length + 1) <= MAX_CHARS / 2 || at === 0).reverse();
  const more = notes.length > lines.length ? ` (the newest ${lines.length} of ${notes.length}; memo.list())` : "";
  return [`${scope}${more}:`, ...lines];
}
