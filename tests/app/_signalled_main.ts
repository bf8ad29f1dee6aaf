/** A program that sends itself the given signals once its own handlers no longer handle them. After one signal it
 * prints that it could close its work; with several it waits to be ended. After `draining`, it sends the first signal
 * while it still writes its output. */
import { DenoIo } from "../../src/app/terminal/deno_io.ts";

const io = new DenoIo([], { noColor: true });
const unlisten = io.onInterrupt(() => {});
unlisten();
if (Deno.args[0] === "draining") {
  io.stdout("x".repeat(4 << 20));
  const drained = io.drained();
  Deno.kill(Deno.pid, Deno.args[1] as Deno.Signal);
  await drained;
  Deno.exit(0);
}
for (const signal of Deno.args) Deno.kill(Deno.pid, signal as Deno.Signal);
if (Deno.args.length > 1) { for await (const _ of Deno.stdin.readable); }
Deno.stdout.writeSync(new TextEncoder().encode("closed"));
Deno.exit(0);
