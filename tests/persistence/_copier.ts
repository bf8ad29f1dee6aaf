/** Copies a database: `deno run _copier.ts FROM TO`. Prints a line for each step and then waits for a byte on stdin. */
import { copyStore } from "../../src/persistence/copy_store.ts";

const [from = "", to = ""] = Deno.args;
const report = await copyStore({
  from,
  to,
  signal: new AbortController().signal,
  onProgress: ({ step, rows }) => {
    Deno.stdout.writeSync(new TextEncoder().encode(`${step} ${rows}\n`));
    Deno.stdin.readSync(new Uint8Array(1));
  },
});
console.log(`copied ${report.rows}`);
