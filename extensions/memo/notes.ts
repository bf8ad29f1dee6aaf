export type NoteScope = "project" | "user";
export interface Note {
  readonly id: string;
  readonly text: string;
  /** ISO 8601 */
  readonly at: string;
}

export const MAX_NOTE_CHARS = 1_000;
const MAX_NOTES = 200;

/** Where notes are stored: in Vis's own folder, never in the project. */
export interface NotePlace {
  readonly home?: string | null;
  readonly workspace: string;
}

/** Notes of a scope, oldest first; empty if there is no file. Rejects for an invalid file. */
export async function readNotes(place: NotePlace, scope: NoteScope): Promise<readonly Note[]> {
  const file = await fileOf(place, scope);
  if (file === null) return [];
  let text: string;
  try {
    text = await Deno.readTextFile(file);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
  return parsed(text, file);
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
  return await change(place, scope, (notes) => {
    const there = notes.find((note) => note.text === line);
    if (there) return { notes, result: there };
    if (notes.length >= MAX_NOTES) {
      throw new Error(`Cannot keep the note: there are ${MAX_NOTES} of the ${scope}; remove some, or merge them`);
    }
    const note: Note = { id: newId(notes), text: line, at: new Date().toISOString() };
    return { notes: [...notes, note], result: note };
  });
}

/** False if there is no such note. */
export async function removeNote(place: NotePlace, id: string): Promise<boolean> {
  for (const scope of ["project", "user"] as const) {
    if (!(await readNotes(place, scope)).some((note) => note.id === id)) continue;
    return await change(place, scope, (notes) => ({ notes: notes.filter((note) => note.id !== id), result: true }));
  }
  return false;
}

/** One writer at a time, across all processes; readers see either the old file or the new one. */
async function change<T>(
  place: NotePlace,
  scope: NoteScope,
  work: (notes: readonly Note[]) => { readonly notes: readonly Note[]; readonly result: T },
): Promise<T> {
  const file = await fileOf(place, scope);
  if (file === null) throw new Error("Cannot keep notes: Vis has no folder of its own here, set VIS_HOME");
  await Deno.mkdir(`${place.home}/memo`, { recursive: true });
  using lock = await Deno.open(`${file}.lock`, { create: true, write: true });
  await lock.lock(true);
  const { notes, result } = work(await readNotes(place, scope));
  const fresh = `${file}.new`;
  const facts = { ...(scope === "project" ? { workspace: place.workspace } : {}), notes };
  await Deno.writeTextFile(fresh, `${JSON.stringify(facts, null, 2)}\n`, { mode: 0o600 });
  await Deno.rename(fresh, file);
  return result;
}

async function fileOf({ home = null, workspace }: NotePlace, scope: NoteScope): Promise<string | null> {
  if (home === null) return null;
  if (scope === "user") return `${home}/memo/user.json`;
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(workspace));
  const name = [...new Uint8Array(hash, 0, 16)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${home}/memo/${name}.json`;
}

function parsed(text: string, file: string): readonly Note[] {
  try {
    const { notes }: { readonly notes: readonly Note[] } = JSON.parse(text);
    if (Array.isArray(notes) && notes.every((note) => typeof note.text === "string" && typeof note.id === "string")) {
      return notes;
    }
  } catch { /* reported below */ }
  throw new Error(`Cannot read ${file}: it holds no notes`);
}

function newId(notes: readonly Note[]): string {
  for (;;) {
    const id = crypto.randomUUID().slice(0, 6);
    if (!notes.some((note) => note.id === id)) return id;
  }
}
