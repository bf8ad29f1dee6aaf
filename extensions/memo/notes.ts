import { existsSync } from "node:fs";
import type { EnvironmentView } from "@vis/extension";

export type NoteScope = "project" | "user";
export interface Note {
  readonly id: string;
  readonly text: string;
  /** ISO 8601 */
  readonly at: string;
}

export const MAX_NOTE_CHARS = 1_000;
const MAX_NOTES = 200;
const PREFIX = "note/";

/** What an environment and the context of a command have in common. */
export type NotePlace = Pick<EnvironmentView, "home" | "workspace" | "store">;

/** Notes of a scope, oldest first. Rejects if a file of an earlier version cannot be read. */
export async function readNotes(place: NotePlace, scope: NoteScope): Promise<readonly Note[]> {
  const { home, store } = place;
  if (!store) return [];
  if (typeof home === "string" && existsSync(`${home}/memo`)) {
    const { takeOver } = await import("./take_over.ts");
    await takeOver({ ...place, home, store }, scope);
  }
  const found = await store.query({ ...queryOf(scope), prefix: PREFIX, limit: 1000 });
  const notes = found.map(({ key, value }) => ({ ...value as Omit<Note, "id">, id: key.slice(PREFIX.length) }));
  return notes.sort((a, b) => a.at < b.at ? -1 : a.at > b.at ? 1 : 0);
}

/** Adds a note and returns it; the same text is stored once. */
export async function addNote(
  place: NotePlace,
  { text, scope }: { readonly text: string; readonly scope: NoteScope },
): Promise<Note> {
  const line = text.trim().replace(/\s*\n\s*/g, " ");
  if (line === "" || line.length > MAX_NOTE_CHARS) {
    throw new Error(`Cannot keep the note: ${line.length} characters, 1 to ${MAX_NOTE_CHARS} are possible`);
  }
  const notes = await readNotes(place, scope);
  const there = notes.find((note) => note.text === line);
  if (there) return there;
  if (notes.length >= MAX_NOTES) {
    throw new Error(`Cannot keep the note: there are ${MAX_NOTES} of the ${scope}; remove some, or merge them`);
  }
  const note = { id: await newId(line, notes), text: line, at: new Date().toISOString() };
  await putNote(place, { note, scope });
  return note;
}

export async function putNote(
  { store }: NotePlace,
  { note: { id, text, at }, scope }: { readonly note: Note; readonly scope: NoteScope },
): Promise<void> {
  if (!store) throw new Error("Cannot keep notes: there is no database here");
  await store.put(`${PREFIX}${id}`, { text, at }, { scope: storedIn(scope) });
}

/** False if there is no such note. */
export async function removeNote(place: NotePlace, id: string): Promise<boolean> {
  for (const scope of ["project", "user"] as const) {
    if (!(await readNotes(place, scope)).some((note) => note.id === id)) continue;
    if (await place.store?.delete(`${PREFIX}${id}`, { scope: storedIn(scope) })) return true;
  }
  return false;
}

export function storedIn(scope: NoteScope): "workspace" | "global" {
  return scope === "project" ? "workspace" : "global";
}

function queryOf(scope: NoteScope) {
  return scope === "project" ? { scope: "workspace" } as const : { conversationId: null };
}

/** Made from the text, so that processes that keep the same text at the same time make one note. */
async function newId(text: string, notes: readonly Note[]): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  const hex = new Uint8Array(hash).toHex();
  for (let length = 6;; length++) {
    const id = hex.slice(0, length);
    if (!notes.some((note) => note.id === id)) return id;
  }
}
