import { messageOf } from "../../domain/errors.ts";

/** Copies of folders are named by hash and format (import_folder.ts), their modules by path. */
const OWN_FRAME = /\/[0-9a-f]{64}-\d+(?:-tests)?\/([^\n()]+?)\.mjs:(\d+):\d+/;

/** The message of an error, with the line of the extension's own code that was running: `x is not defined (mod.ts:7)`. */
export function messageWithLine(error: unknown): string {
  let place = "";
  for (let at = error; at instanceof Error; at = at.cause) {
    const [, path, line] = OWN_FRAME.exec(at.stack ?? "") ?? [];
    if (path !== undefined) place = ` (${path}:${line})`;
  }
  return `${messageOf(error)}${place}`;
}
