import { fileFault, messageOf, UsageError } from "../../../domain/errors.ts";
import { ByteBuffer } from "../../../domain/kit/bytes.ts";
import { decodeText } from "../../../domain/kit/encoding.ts";
import { oneLine } from "../../../domain/kit/text.ts";
import { piecesOfInput } from "./input_pieces.ts";

const MAX_BYTES = 4_000_000;

/** Reads the JSON of a schema file; the schema itself is validated when the query begins. Throws `UsageError`. */
export async function readSchema(path: string): Promise<unknown> {
  const text = await textOf(path);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(
      `Cannot use schema ${path}: it is not JSON (${oneLine(messageOf(error), 200)})`,
    );
  }
}

async function textOf(path: string): Promise<string> {
  try {
    const bytes = new ByteBuffer();
    for await (const piece of piecesOfInput(path)) {
      bytes.push(piece);
      if (bytes.length > MAX_BYTES) {
        throw new UsageError(`Cannot use schema ${path}: it has over ${MAX_BYTES} bytes, the limit`);
      }
    }
    return decodeText(bytes.bytes)?.text ?? "";
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`Cannot read schema ${path}: ${fileFault(error)}`);
  }
}
