/** Beside this file in an executable; otherwise the built file, relative to this folder or to a bundle of the program. */
const SUCRASE = ["./sucrase.js", "../../../build/sandbox/sucrase.js", "../sandbox/sucrase.js"];

/** The built script that strips types. */
export function sucraseText(): string {
  for (const path of SUCRASE) {
    try {
      return Deno.readTextFileSync(new URL(path, import.meta.url));
    } catch { /* not there: the next */ }
  }
  throw new Error("Cannot strip types: sucrase.js is missing");
}
