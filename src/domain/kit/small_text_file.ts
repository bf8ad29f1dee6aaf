const MAX_BYTES = 1 << 20;

/** Text of a file; null if it is missing, not a regular file, or larger than any configuration. Links are followed only
 * in the user's own files: those of a repository may lead anywhere. */
export async function smallTextFile(
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
