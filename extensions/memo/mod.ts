import { defineExtension, type EnvironmentView, fn, z } from "@vis/extension";
import { addNote, MAX_NOTE_CHARS, type Note, type NotePlace, type NoteScope, readNotes, removeNote } from "./notes.ts";

const text = z.string().min(1).max(MAX_NOTE_CHARS);

/** The limit for the shown notes, which every call of a query carries; the newest are shown. */
const MAX_SHOWN_CHARS = 2_000;

export default defineExtension({
  namespace: "vis.memo",
  alias: { ns: "vis.ext.memo", alias: "memo" },
  doc: "Notes that outlive conversations, of this project and of the user.",
  group: "memory",
  version: "0.1.0",
  author: "Vis",
  license: "Apache-2.0",
  readOnly: true,
  /** A sub-query has only its task and no history. */
  activate: ({ depth }: EnvironmentView): boolean => depth === 0,
  /** The prompt is empty until there is a note. */
  prompt: async (env: EnvironmentView): Promise<string> => {
    const [project, user] = await Promise.all([readNotes(env, "project"), readNotes(env, "user")]);
    if (project.length + user.length === 0) return "";
    return [
      "Notes of earlier conversations; keep what later ones must know with memo.add(text), drop with memo.remove(id).",
      ...section("project", project),
      ...section("user", user),
    ].join("\n");
  },
  shown: 0,
  symbols: [
    fn(
      "add",
      (env: EnvironmentView, note: string, options?: { readonly scope?: NoteScope }) =>
        addNote(env, { text: note, scope: options?.scope ?? "project" }),
      {
        doc: "Keeps a note for later conversations, of the project unless scope is user.",
        reads: false,
        args: z.tuple([
          text.describe("text"),
          z.strictObject({ scope: z.enum(["project", "user"]).optional() }).optional(),
        ]),
        misnamed: { content: "text", note: "text" },
        returns: "{id, text, at}",
        examples: ['await memo.add("Tests run with: make check")'],
      },
    ),
    fn("list", (env: EnvironmentView) => listNotes(env), {
      doc: "All notes, oldest first.",
      args: z.tuple([]),
      misnamed: { content: "text", note: "text" },
      returns: "{id, scope, text, at}[]",
    }),
    fn("remove", (env: EnvironmentView, id: string) => removeNote(env, id), {
      doc: "Whether there was such a note.",
      reads: false,
      args: z.tuple([z.string().min(1).describe("id")]),
      returns: "boolean",
    }),
  ],
  cli: [
    {
      name: "memo",
      doc: "Keep a note for later conversations in this workspace, or with --user in all of them.",
      args: z.object({ text, user: z.boolean().optional() }),
      run: async ({ text, user }: { readonly text: string; readonly user?: boolean }, context) => {
        const { id } = await addNote(context, { text, scope: user ? "user" : "project" });
        context.print(`Kept as ${id}\n`);
      },
    },
    {
      name: "memos",
      doc: "List the notes; --remove ID deletes one.",
      args: z.object({ remove: z.string().optional() }),
      run: async ({ remove }: { readonly remove?: string }, context) => {
        if (remove !== undefined) {
          const removed = await removeNote(context, remove);
          context.print(removed ? `Removed ${remove}\n` : `There is no note ${remove}\n`);
          return removed ? 0 : 1;
        }
        for (const { id, scope, text } of await listNotes(context)) context.print(`${id}  ${scope}  ${text}\n`);
      },
    },
  ],
});

async function listNotes(place: NotePlace) {
  const scopes = ["project", "user"] as const;
  const lists = await Promise.all(
    scopes.map(async (scope) => (await readNotes(place, scope)).map((note) => ({ ...note, scope }))),
  );
  return lists.flat();
}

function section(scope: string, notes: readonly Note[]): readonly string[] {
  if (notes.length === 0) return [];
  let length = 0;
  const lines = notes.map(({ id, text }) => `- [${id}] ${text}`).reverse()
    // The newest one is always shown, so its id must not push it out.
    .filter((line, at) => (length += line.length + 1) <= MAX_SHOWN_CHARS / 2 || at === 0).reverse();
  const more = notes.length > lines.length ? ` (the newest ${lines.length} of ${notes.length}; memo.list())` : "";
  return [`${scope}${more}:`, ...lines];
}
