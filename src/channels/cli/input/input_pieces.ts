const PIECE = 1 << 20;

/** The bytes of a file that the user named, which may be a pipe. Opening a pipe that nobody writes to would stop the
 * process, so that no signal ends it: it is opened for writing too until its first bytes arrive. */
export async function* piecesOfInput(path: string): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const { isFifo } = await Deno.lstat(path);
  let writer = isFifo ? await Deno.open(path, { read: true, write: true }) : null;
  try {
    using file = await Deno.open(path);
    const buffer = new Uint8Array(PIECE);
    for (let got = await file.read(buffer); got !== null; got = await file.read(buffer)) {
      writer?.close();
      writer = null;
      yield buffer.slice(0, got);
    }
  } finally {
    writer?.close();
  }
}
