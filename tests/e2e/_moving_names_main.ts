/** Runs in a network of its own, where an address of the internet belongs to this machine. It tests a name that moves
 * to another address after its lookup. It prints the answer of `vis run`, and the number of connections to a server of
 * the machine. */
import { createSocket } from "node:dgram";
import { final, replyJson } from "../helpers/scripted_provider.ts";
import { compiledLauncher } from "./_launcher.ts";
import { User } from "./helpers/user.ts";

const [outside = ""] = Deno.args;
const PORT = 8080;
const asked = new Map<string, number>();

/** Every name first has the address of the internet, and then the address of this machine. */
const names = createSocket("udp4");
names.on("message", (query, from) => {
  const end = query.indexOf(0, 12) + 5;
  const name = query.toString("latin1", 12, end - 5);
  const isA = query.readUInt16BE(end - 4) === 1;
  const times = asked.get(name) ?? 0;
  if (isA) asked.set(name, times + 1);
  const address = times === 0 ? outside : "127.0.0.1";
  const head = [...query.subarray(0, 2), 0x81, 0x80, 0, 1, 0, isA ? 1 : 0, 0, 0, 0, 0];
  const row = isA ? [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split(".").map(Number)] : [];
  names.send(new Uint8Array([...head, ...query.subarray(12, end), ...row]), from.port, from.address);
});
await new Promise<void>((done) => names.bind(53, "127.0.0.1", done));

let reached = 0;
Deno.serve({ hostname: "127.0.0.1", port: PORT, onListen: () => {} }, () => {
  reached++;
  return new Response("secret");
});
Deno.serve({ hostname: outside, port: PORT, onListen: () => {} }, (request) => {
  const { pathname } = new URL(request.url);
  return pathname === "/go" ? new Response(null, { status: 302, headers: { location: "/" } }) : new Response("public");
});

const block = `const get = (url) => web.get(url).then(({ text }) => text, () => "refused");
  const got = [await get("http://one.test:${PORT}/"), await get("http://one.test:${PORT}/"), await get("http://two.test:${PORT}/go")].join()`;
await using user = await User.make(await compiledLauncher(), { reply: [replyJson(block), final("{{got}}")] });
await Deno.mkdir(user.path("vis"));
await Deno.writeTextFile(user.path("vis/config.jsonc"), '{ "web": { "hosts": ["*:8080"] } }');
const { stdout, stderr } = await user.run(["run", "x"]);
console.error(stderr);
console.log(`${stdout.trim()}, ${reached} times`);
names.close();
await user[Symbol.asyncDispose]();
Deno.exit(0);
