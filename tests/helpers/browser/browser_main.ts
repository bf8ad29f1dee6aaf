/** Starts a browser for tests in a separate process: its driver makes functions from texts, which the flags of the
 * program forbid. Prints its address, and ends when stdin does. */
import { chromium } from "playwright-core";

const [executablePath = ""] = Deno.args;
// Many containers have no user namespaces; the page under test is our own.
const server = await chromium.launchServer({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
console.log(server.wsEndpoint());
for await (const _ of Deno.stdin.readable);
await server.close();
Deno.exit(0);
