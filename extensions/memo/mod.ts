import { advised, defineExtension, type EnvironmentView, fn, type OwnStore, z } from "@vis/extension";
import { existsSync } from "node:fs";

const MAX_MEMO_CHARS = 1_000;

const text = z.string().min(1).max(MAX_MEMO_CHARS);

const MAX_SHOWN_CHARS = 2_000;

export default defineExtension({
  namespace: "vis.memo",
  alias: { ns: "vis.ext.memo", alias: "memo" },
  doc: "Keeps memos for later conversations, in this workspace or in all workspaces.",
  group: "memory",
  version: "0.1.0",
  author: "Vis",
  license: "Apache-2.0",
  readOnly: true,
  activate: ({ depth }: EnvironmentView): boolean => depth === 0,
  prompt: async (env: EnvironmentView): Promise<string> => {
    const [project, user] = await Promise.all([readMemos(env, "project"), readMemos(env, "user")]);
    if (project.length + user.length === 0) return "";
    return [
      env.onlyReads
        ? "Memos of earlier conversations."
        : "Memos of earlier conversations; keep what later ones must know with memo.add(text), drop with memo.remove(id).",
      ...section("project", project),
      ...section("user", user),
    ].join("\n");
  },
  shown: 0,
  symbols: [
    fn(
      "add",
      (env: EnvironmentView, memo: string, options?: { readonly scope?: MemoScope }) =>
        addMemo(env, { text: memo, scope: options?.scope ?? "project" }),
      {
        doc: "Keeps a memo for later conversations, of the project unless scope is user.",
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
    fn("list", (env: EnvironmentView) => listMemos(env), {
      doc: "Memos of the project, then of the user, each oldest first.",
      args: z.tuple([]),
      misnamed: { content: "text", note: "text" },
      returns: "{id, scope, text, at}[]",
    }),
    fn("remove", (env: EnvironmentView, id: string) => removeMemo(env, id), {
      doc: "Deletes a memo; false if there is none.",
      reads: false,
      args: z.tuple([z.string().min(1).describe("id")]),
      returns: "boolean",
    }),
  ],
  cli: [
    {
      name: "memo",
      doc: "Keep a memo for later conversations in this workspace, or with --user in all workspaces.",
      args: z.object({ text, user: z.boolean().optional() }),
      run: async ({ text, user }: { readonly text: string; readonly user?: boolean }, context) => {
        const { id } = await addMemo(context, { text, scope: user ? "user" : "project" });
        context.print(`Kept as ${id}\n`);
      },
    },
    {
      name: "memos",
      doc: "List the memos; --remove ID deletes one.",
      args: z.object({ remove: z.string().optional() }),
      run: async ({ remove }: { readonly remove?: string }, context) => {
        if (remove !== undefined) {
          const removed = await removeMemo(context, remove);
          context.print(removed ? `Removed ${remove}\n` : `There is no memo ${remove}\n`);
          return removed ? 0 : 2;
        }
        for (const { id, scope, text } of await listMemos(context)) context.print(`${id}  ${scope}  ${text}\n`);
      },
    },
  ],
});

async function listMemos(place: MemoPlace) {
  const scopes = ["project", "user"] as const;
  const lists = await Promise.all(
    scopes.map(async (scope) => (await readMemos(place, scope)).map((memo) => ({ ...memo, scope }))),
  );
  return lists.flat();
}

function section(scope: string, memos: readonly Memo[]): readonly string[] {
  if (memos.length === 0) return [];
  let length = 0;
  const lines = memos.map(({ id, text }) => `- [${id}] ${text}`).reverse()
    .filter((line, at) => (length += line.length + 1) <= MAX_SHOWN_CHARS / 2 || at === 0).reverse();
  const more = memos.length > lines.length ? ` (the newest ${lines.length} of ${memos.length}; memo.list())` : "";
  return [`${scope}${more}:`, ...lines];
}

type MemoScope = "project" | "user";
interface Memo {
  readonly id: string;
  readonly text: string;
  readonly at: string;
}

const MAX_MEMOS = 200;
const PREFIX = "note/";

type MemoPlace = Pick<EnvironmentView, "home" | "workspace" | "store">;

export async function readMemos(place: MemoPlace, scope: MemoScope): Promise<readonly Memo[]> {
  const { home, store } = place;
  if (!store) return [];
  if (typeof home === "string" && existsSync(`${home}/memo`)) {
    await takeOver({ ...place, home, store }, scope);
  }
  const found = await store.query({ ...queryOf(scope), prefix: PREFIX, limit: 1000 });
  const memos = found.map(({ key, value }) => ({ ...value as Omit<Memo, "id">, id: key.slice(PREFIX.length) }));
  return memos.sort((a, b) => a.at < b.at ? -1 : a.at > b.at ? 1 : 0);
}

export async function addMemo(
  place: MemoPlace,
  { text, scope }: { readonly text: string; readonly scope: MemoScope },
): Promise<Memo> {
  const line = text.trim().replace(/\s*\n\s*/g, " ");
  if (line === "") throw advised(new Error("Cannot keep the memo: its text is empty"), "write a text");
  if (line.length > MAX_MEMO_CHARS) {
    throw advised(
      new Error(`Cannot keep the memo: its text has ${line.length} characters, and the limit is ${MAX_MEMO_CHARS}`),
      "shorten it",
    );
  }
  const memos = await readMemos(place, scope);
  const there = memos.find((memo) => memo.text === line);
  if (there) return there;
  if (memos.length >= MAX_MEMOS) {
    throw advised(
      new Error(
        `Cannot keep the memo: ${
          scope === "project" ? "this workspace" : "the user"
        } has ${MAX_MEMOS} memos, the limit`,
      ),
      "remove one first",
    );
  }
  const others = await readMemos(place, scope === "project" ? "user" : "project");
  const memo = {
    id: await newId(line, { scope, memos: [...memos, ...others] }),
    text: line,
    at: new Date().toISOString(),
  };
  await putMemo(place, { memo, scope });
  return memo;
}

async function putMemo(
  { store }: MemoPlace,
  { memo: { id, text, at }, scope }: { readonly memo: Memo; readonly scope: MemoScope },
): Promise<void> {
  if (!store) throw new Error("Cannot keep memos: env.store is missing");
  await store.put(`${PREFIX}${id}`, { text, at }, { scope: storedIn(scope) });
}

export async function removeMemo(place: MemoPlace, id: string): Promise<boolean> {
  for (const scope of ["project", "user"] as const) {
    if (!(await readMemos(place, scope)).some((memo) => memo.id === id)) continue;
    if (await place.store?.delete(`${PREFIX}${id}`, { scope: storedIn(scope) })) return true;
  }
  return false;
}

function storedIn(scope: MemoScope): "workspace" | "global" {
  return scope === "project" ? "workspace" : "global";
}

function queryOf(scope: MemoScope) {
  return scope === "project" ? { scope: "workspace" } as const : { conversationId: null };
}

/** Processes that add the same text at the same time must make one memo of each scope, so the scope and the text
 * determine the id. */
async function newId(
  text: string,
  { scope, memos }: { readonly scope: MemoScope; readonly memos: readonly Memo[] },
): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`${scope}\n${text}`));
  const hex = new Uint8Array(hash).toHex();
  for (let length = 6;; length++) {
    const id = hex.slice(0, length);
    if (!memos.some((memo) => memo.id === id)) return id;
  }
}

interface Place {
  readonly home: string;
  readonly workspace: string;
  readonly store: OwnStore;
}

const TAKEN = "taken over";

/** An earlier version kept memos in files. Its lock keeps processes of that version from changing the file during
 * the import. */
async function takeOver(place: Place, scope: MemoScope): Promise<void> {
  const { store } = place;
  const where = { scope: storedIn(scope) };
  if (await store.get(TAKEN, where) === true) return;
  const file = await fileOf(place, scope);
  const text = await Deno.readTextFile(file).catch((error: unknown) => {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  });
  if (text === null) return;
  using lock = await Deno.open(`${file}.lock`, { create: true, write: true });
  await lock.lock(true);
  if (await store.get(TAKEN, where) === true) return;
  for (const memo of parsed(await Deno.readTextFile(file), file)) await putMemo(place, { memo, scope });
  await store.put(TAKEN, true, where);
}

async function fileOf({ home, workspace }: Place, scope: MemoScope): Promise<string> {
  if (scope === "user") return `${home}/memo/user.json`;
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(workspace));
  return `${home}/memo/${new Uint8Array(hash, 0, 16).toHex()}.json`;
}

function parsed(text: string, file: string): readonly Memo[] {
  try {
    const { notes: memos }: { readonly notes: readonly Memo[] } = JSON.parse(text);
    if (Array.isArray(memos) && memos.every(isMemo)) return memos;
  } catch { /* The error below reports it. */ }
  throw new Error(`Cannot read ${file}: it contains no valid list of memos; correct or delete the file`);
}

function isMemo({ id, text, at }: Memo): boolean {
  return [id, text, at].every((one) => typeof one === "string") && id !== "";
}
