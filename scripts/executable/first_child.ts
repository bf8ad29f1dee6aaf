/** Loaded before the program by commands that run blocks: starts a child, which then loads beside the program. */
import { CHILD_ARGUMENT, endFirstChild, FOLDER_PREFIX, keepFirstChild, startChild } from "../../src/sandbox/launch.ts";

// A rehearsal runs from source. A single processor is the program's.
if (Deno.build.standalone && navigator.hardwareConcurrency > 1) {
  try {
    const folder = Deno.makeTempDirSync({ prefix: FOLDER_PREFIX });
    addEventListener("unload", endFirstChild);
    keepFirstChild({ process: startChild({ path: Deno.execPath(), args: [CHILD_ARGUMENT] }, folder), folder });
  } catch { /* whoever needs a child starts it, and says what is wrong */ }
}
