/** The child loads in parallel with the program, so commands that run blocks load this module before the program. */
import { CHILD_ARGUMENT, endFirstChild, FOLDER_PREFIX, keepFirstChild, startChild } from "../../src/sandbox/launch.ts";

// A rehearsal runs from source. On a single processor, a parallel child would only slow the program.
if (Deno.build.standalone && navigator.hardwareConcurrency > 1) {
  try {
    const folder = Deno.makeTempDirSync({ prefix: FOLDER_PREFIX });
    addEventListener("unload", endFirstChild);
    keepFirstChild({ process: startChild({ path: Deno.execPath(), args: [CHILD_ARGUMENT] }, folder), folder });
  } catch { /* Code that needs a child starts one later and reports the fault. */ }
}
