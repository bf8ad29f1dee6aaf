const MAX_BYTES = 1 << 20;

/** Why a path is not read; the message completes "Cannot read PATH: ". */
export class NotPlainFile extends Error {
  override readonly name = "NotPlainFile";
}

interface ReadOptions {
  /** Whether a link at the end is followed. */
  readonly links?: boolean;
  readonly most?: number;
}

/** Text of a plain file. A workspace may bring a link to a device, a pipe or a file without an end, which would take the
 * memory of the process or block it: throws `NotPlainFile` for them and for more than `most` bytes, and the system's
 * errors. */
export async function plainTextFile(
  path: string,
  { links = true, most = MAX_BYTES }: ReadOptions = {},
): Promise<string> {
  const info = await (links ? Deno.stat(path) : Deno.lstat(path));
  if (!info.isFile) throw new NotPlainFile(`it is ${kindOf(info)}, not a file`);
  const tooLarge = () => new NotPlainFile(`it has over ${most} bytes, the limit`);
  if (info.size > most) throw tooLarge();
  if (info.size === 0) return ""; // also files of /proc, of which some have no end
  using file = await Deno.open(path);
  const bytes = new Uint8Array(info.size + 1);
  let used = 0;
  for (let count = await file.read(bytes); count !== null; count = await file.read(bytes.subarray(used))) {
    used += count;
    if (used === bytes.length) throw new NotPlainFile("it grew while it was read");
  }
  return new TextDecoder().decode(bytes.subarray(0, used));
}

/** Text of a file; null if it is missing, not a regular file, or larger than any configuration. Links are followed only
 * in the user's own files: those of a repository may lead anywhere. */
export async function smallTextFile(
  path: string,
  { links = false, most = MAX_BYTES }: ReadOptions = {},
): Promise<string | null> {
  return await plainTextFile(path, { links, most }).catch(() => null);
}

function kindOf({ isDirectory, isFifo, isSymlink, isSocket }: Deno.FileInfo): string {
  return isDirectory ? "a folder" : isFifo ? "a pipe" : isSymlink ? "a link" : isSocket ? "a socket" : "a device";
}
