const MAX_BYTES = 1 << 20;

/** Text of a file; null where there is none, where it is no plain file, or larger than a configuration ever is. Links
 * are followed in the user's own files only: those of a repository may lead anywhere. */
export async function smallFile(
  path: string,
  { links = false }: { readonly links?: boolean } = {},
): Promise<string | null> {
  try {
    const { isFile, size } = await (links ? Deno.stat(path) : Deno.lstat(path));
    return isFile && size <= MAX_BYTES ? await Deno.readTextFile(path) : null;
  } catch {
    return null;
  }
}
