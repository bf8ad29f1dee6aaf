/** The number is `mxFrame` in the index of the log (https://sqlite.org/walformat.html, "The WAL-Index Header"). A
 * checkpoint resets the number. */
export function writtenPages(path: string): number {
  using file = Deno.openSync(`${path}-shm`);
  const header = new Uint8Array(20);
  let read = 0;
  while (read < header.length) read += file.readSync(header.subarray(read)) ?? header.length;
  const littleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;
  return new DataView(header.buffer).getUint32(16, littleEndian);
}
