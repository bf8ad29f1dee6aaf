/** Replaces a file as a whole: readers see the old or the new text, and after an error the old one. Without `mode` only
 * its owner can read it. The folder must exist. */
export async function replaceFile(path: string, text: string, { mode = 0o600 } = {}): Promise<void> {
  const fresh = `${path}.${crypto.randomUUID()}`;
  try {
    await Deno.writeTextFile(fresh, text, { mode, createNew: true });
    using file = await Deno.open(fresh);
    await file.sync();
    await Deno.rename(fresh, path);
  } catch (error) {
    await Deno.remove(fresh).catch(() => {});
    throw error;
  }
}
