import { basename } from "node:path";
import { UsageError } from "../../../domain/errors.ts";
import { fileFault } from "../../../domain/text/file_fault.ts";
import type { AskOptions } from "../../../conversation/send_options.ts";

/** The file of `--context`, opened when it is read. Throws `UsageError` if the file does not exist. */
export async function readContextArgument(path: string): Promise<NonNullable<AskOptions["context"]>> {
  const found = await Deno.stat(path).catch(() => null);
  if (!found) throw new UsageError(`Cannot use --context: ${path} does not exist`);
  if (found.isDirectory) throw new UsageError(`Cannot use --context: ${path} is a folder`);
  return { label: basename(path), json: /\.json$/i.test(path), pieces: piecesOf(path) };
}

async function* piecesOf(path: string): AsyncGenerator<Uint8Array> {
  using file = await Deno.open(path).catch((error: unknown) => {
    throw new UsageError(`Cannot read ${path}: ${fileFault(error)}`);
  });
  const buffer = new Uint8Array(1 << 20);
  for (let got = await file.read(buffer); got !== null; got = await file.read(buffer)) yield buffer.slice(0, got);
}
