/** The browser's driver makes functions from texts, which the flags of Vis forbid, so this separate process starts the
 * browser. The process prints the browser's address, and ends when stdin ends. */
import { chromium } from "playwright-core";

const [executablePath = ""] = Deno.args;
// The browser's sandbox requires user namespaces, which many containers lack. The tests open only the page of Vis.
const server = await chromium.launchServer({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
console.log(server.wsEndpoint());
for await (const _ of Deno.stdin.readable);
await server.close();
Deno.exit(0);
