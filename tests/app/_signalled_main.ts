/** A program that sends itself the signals it is given once nothing of it wants to hear of them any more. After one it
 * says that it could close what ran; with several it waits to be ended. */
import { DenoIo } from "../../src/app/terminal/deno_io.ts";

const io = new DenoIo([], { noColor: true });
const unlisten = io.onInterrupt(() => {});
unlisten();
for (const signal of Deno.args) Deno.kill(Deno.pid, signal as Deno.Signal);
if (Deno.args.length > 1) { for await (const _ of Deno.stdin.readable); }
Deno.stdout.writeSync(new TextEncoder().encode("closed"));
Deno.exit(0);
