import { basename } from "node:path";
import type { AskOptions } from "../../../conversation/send_options.ts";
import { Cancelled, fileFault, UsageError } from "../../../domain/errors.ts";
import { abortable } from "../../../domain/kit/concurrency.ts";
import { piecesOfInput } from "./input_pieces.ts";

/** The file of `--context`, opened when it is read. Throws `UsageError` if the file does not exist. The signal ends the
 * wait for a pipe that nobody writes to. */
export async function readContextArgument(
  path: string,
): Promise<(signal: AbortSignal | undefined) => NonNullable<AskOptions["context"]>> {
  const found = await Deno.stat(path).catch(() => null);
  if (!found) throw new UsageError(`Cannot use --context: ${path} does not exist`);
  if (found.isDirectory) throw new UsageError(`Cannot use --context: ${path} is a folder`);
  return (signal) => ({ label: basename(path), json: /\.json$/i.test(path), pieces: untilAborted(path, signal) });
}

async function* untilAborted(path: string, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  const pieces = piecesOfInput(path);
  for (;;) {
    const { value, done } = await abortable(pieces.next(), signal).catch((error: unknown) => {
      if (signal?.aborted) throw new Cancelled("Cancelled while waiting for the context");
      throw new UsageError(`Cannot read ${path}: ${fileFault(error)}`);
    });
    if (done) return;
    yield value;
  }
}
