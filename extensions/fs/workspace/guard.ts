/** Where only their own tools write: repository internals (which can name commands) and our settings. */
const GUARDED = [".git", ".vis", "git~1", "vis~1"];
/** Some file systems leave these out of a name. */
const IGNORABLE = /[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;

/** Whether some file system could take this name for a guarded one: case, trailing dots, streams, invisible signs. */
export function isGuarded(name: string): boolean {
  const [plain = ""] = name.normalize("NFKC").replace(IGNORABLE, "").toLowerCase().split(":");
  return GUARDED.includes(plain.replace(/[. ]+$/, ""));
}
