const MAX_BYTES = 1 << 20;

/** Text of a file; null where there is none, where it is no plain file, or larger than a configuration ever is. */
export async function smallFile(path: string): Promise<string | null> {
  try {
    const { isFile, size } = await Deno.stat(path);
    return isFile && size <= MAX_BYTES ? await Deno.readTextFile(path) : null;
  } catch {
    return null;
  }
}
