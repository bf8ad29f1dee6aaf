/** Folders that only their own tools write to: repository internals (which can name commands) and our settings. */
const GUARDED = [".git", ".vis", "git~1", "vis~1"];
/** Some file systems ignore these in names. */
const IGNORABLE = /[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;

/** Whether some file system could treat this name as a guarded one. */
export function isGuarded(name: string): boolean {
  return GUARDED.includes(plainName(name));
}

/** A name without what some file system ignores: case, trailing dots, streams, invisible characters. */
export function plainName(name: string): string {
  const [plain = ""] = name.normalize("NFKC").replace(IGNORABLE, "").toLowerCase().split(":");
  return plain.replace(/[. ]+$/, "");
}
