/** Starts a browser for tests in a separate process, because its driver makes functions from texts, which the flags of
 * the program forbid. It prints the browser's address, and ends when stdin does. */
import { chromium } from "playwright-core";

const [executablePath = ""] = Deno.args;
// Many containers have no user namespaces. The tested page is the program's own.
const server = await chromium.launchServer({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
console.log(server.wsEndpoint());
for await (const _ of Deno.stdin.readable);
await server.close();
Deno.exit(0);
