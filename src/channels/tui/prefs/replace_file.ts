/** Replaces a file atomically; only its owner can read it. The folder must exist. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const fresh = `${path}.${crypto.randomUUID()}`;
  try {
    await Deno.writeTextFile(fresh, text, { mode: 0o600, createNew: true });
    await Deno.rename(fresh, path);
  } catch (error) {
    await Deno.remove(fresh).catch(() => {});
    throw error;
  }
}
