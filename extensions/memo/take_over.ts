import type { OwnStore } from "@vis/extension";
import { type Note, type NoteScope, putNote, storedIn } from "./notes.ts";

interface Place {
  readonly home: string;
  readonly workspace: string;
  readonly store: OwnStore;
}

/** Stored once the file of an earlier version is taken over. The file stays as it is. */
const TAKEN = "taken over";

/** Takes notes over that an earlier version kept in files, once for each scope and database. After a kill it begins
 * again, and stores the same. The earlier version's lock is held, so that neither it nor another process changes
 * notes meanwhile. Rejects for a file that holds no notes. */
export async function takeOver(place: Place, scope: NoteScope): Promise<void> {
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
  for (const note of parsed(await Deno.readTextFile(file), file)) await putNote(place, { note, scope });
  await store.put(TAKEN, true, where);
}

async function fileOf({ home, workspace }: Place, scope: NoteScope): Promise<string> {
  if (scope === "user") return `${home}/memo/user.json`;
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(workspace));
  return `${home}/memo/${new Uint8Array(hash, 0, 16).toHex()}.json`;
}

function parsed(text: string, file: string): readonly Note[] {
  try {
    const { notes }: { readonly notes: readonly Note[] } = JSON.parse(text);
    if (Array.isArray(notes) && notes.every(isNote)) return notes;
  } catch { /* reported below */ }
  throw new Error(`Cannot read ${file}: it holds no notes; correct or remove it`);
}

function isNote({ id, text, at }: Note): boolean {
  return [id, text, at].every((one) => typeof one === "string") && id !== "";
}
