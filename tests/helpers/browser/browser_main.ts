/** A browser for tests, in a process of its own: what drives it makes functions out of texts, which the flags of the
 * program take away. Prints the address where it is reached, and ends when stdin does. */
import { chromium } from "playwright-core";

const [executablePath = ""] = Deno.args;
// There is no user namespace in many a container; the page under test is our own.
const server = await chromium.launchServer({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
console.log(server.wsEndpoint());
for await (const _ of Deno.stdin.readable);
await server.close();
Deno.exit(0);
