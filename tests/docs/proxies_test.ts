import assert from "node:assert/strict";
import { createServer } from "node:net";
import { connect, type TLSSocket } from "node:tls";
import { type Rig, startRig, TOKEN } from "../channels/http/_rig.ts";
import { replyJson } from "../helpers/scripted_provider.ts";
import { until } from "../helpers/until.ts";

const folder = new URL("../../docs/serve/deploy/", import.meta.url);
const read = (name: string): string => Deno.readTextFileSync(new URL(name, folder));
const NAME = "vis.example.org";

function find(program: string): string | null {
  const folders = [...(Deno.env.get("PATH") ?? "").split(":"), "/usr/sbin"];
  return folders.map((one) => `${one}/${program}`).find((path) => {
    try {
      return Deno.statSync(path).isFile;
    } catch {
      return false;
    }
  }) ?? null;
}

async function freePort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const server = createServer().listen(0, "127.0.0.1", () => {
    const address = server.address();
    server.close(() => resolve(typeof address === "object" ? address?.port ?? 0 : 0));
  });
  return await promise;
}

interface Place {
  readonly home: string;
  readonly port: number;
  readonly rig: Rig;
}

/** Uses the unchanged file, except for ports, names of files and a shorter wait for headers. */
function nginxArgs({ home, port, rig }: Place): readonly string[] {
  const site = read("nginx.conf")
    .replace("listen 443 ", `listen 127.0.0.1:${port} `).replace(/\n.*listen \[::\].*/, "")
    .replace("proxy_pass http://127.0.0.1:7357", `proxy_pass ${rig.url.slice(0, -1)}`)
    .replace(/\/etc\/letsencrypt\/live\/vis\.example\.org\/fullchain\.pem/, `${home}/cert.pem`)
    .replace(/\/etc\/letsencrypt\/live\/vis\.example\.org\/privkey\.pem/, `${home}/key.pem`)
    .replace("client_header_timeout 10s", "client_header_timeout 1s");
  const temp = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((kind) => `${kind}_temp_path ${home}/${kind};`);
  const main = `daemon off; pid ${home}/pid; error_log ${home}/error.log;
    events {} http { access_log off; ${temp.join(" ")} ${site} }`;
  Deno.writeTextFileSync(`${home}/nginx.conf`, main);
  return ["-c", `${home}/nginx.conf`, "-e", `${home}/error.log`];
}

function caddyArgs({ home, port, rig }: Place): readonly string[] {
  const file = read("Caddyfile")
    .replace("{\n\tservers {", "{\n\tadmin off\n\tauto_https off\n\tdefault_bind 127.0.0.1\n\tservers {")
    .replace(`${NAME} {`, `https://${NAME}:${port} {\n\ttls ${home}/cert.pem ${home}/key.pem`)
    .replace("127.0.0.1:7357", new URL(rig.url).host)
    .replace("read_header 10s", "read_header 1s");
  Deno.writeTextFileSync(`${home}/Caddyfile`, file);
  return ["run", "--config", `${home}/Caddyfile`, "--adapter", "caddyfile"];
}

function open({ port }: Place): Promise<TLSSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>();
  const socket = connect(
    { port, host: "127.0.0.1", servername: NAME, rejectUnauthorized: false },
    () => resolve(socket),
  );
  socket.once("error", reject);
  return promise;
}

/** Sends a request. Returns the socket, and the received text until it contains `until` or the other end closes. */
async function ask(place: Place, head: string, { body = "", until = "\0" } = {}) {
  const socket = await open(place);
  const lines = [head, `Host: ${NAME}:${place.port}`, `Authorization: Bearer ${TOKEN}`, "Connection: close"];
  const more = body === "" ? [] : ["Content-Type: application/json", `Content-Length: ${body.length}`];
  socket.write([...lines, ...more, "", body].join("\r\n"));
  const { promise, resolve } = Promise.withResolvers<string>();
  let got = "";
  socket.on("error", () => {}).on("close", () => resolve(got));
  socket.on("data", (bytes) => {
    got += bytes.toString();
    if (got.includes(until)) resolve(got);
  });
  return { socket, text: await promise };
}

function started(place: Place): Promise<void> {
  return until(() => open(place).then((socket) => void socket.destroy()).then(() => true, () => false));
}

async function check(place: Place): Promise<void> {
  const { rig, port } = place;
  await started(place);
  const own = `X-Forwarded-For: 203.0.113.9\r\nOrigin: https://${NAME}:${port}`;
  const { text } = await ask(place, `GET /api/v1 HTTP/1.1\r\n${own}`);
  assert.match(text, /^HTTP\/1\.1 200 [^]*"version"/, "a page of this origin is served");
  assert.match((await ask(place, "GET / HTTP/1.1\r\nOrigin: https://evil.example")).text, /^HTTP\/1\.1 403 /);
  const last = rig.logged.filter(({ event }) => event === "request").at(-1);
  assert.equal(Object(last?.data).address, "127.0.0.1", "an address that the client invented does not count");
  const id = await rig.conversation();
  const body = JSON.stringify({ request: "x", cancelOnDisconnect: true });
  const post = `POST /api/v1/conversations/${id}/messages HTTP/1.1\r\nAccept: text/event-stream`;
  const stream = await ask(place, post, { body, until: "event: started" });
  assert.match(stream.text, /event: started/, "an event is passed on while the query runs");
  stream.socket.destroy();
  const reason = async () => (await (await rig.ask(`/api/v1/conversations/${id}/queries`)).json()).items[0].reason;
  await until(async () => await reason() === "cancelled", () => "a client that leaves is noticed");
  const slow = await open(place);
  const { promise, resolve } = Promise.withResolvers<void>();
  slow.on("close", () => resolve()).on("error", () => {}).resume();
  slow.write(`GET / HTTP/1.1\r\nHost: ${NAME}\r\nX: `);
  await promise; // The proxy cuts off headers that never end.
}

for (const [program, argsOf] of [["nginx", nginxArgs], ["caddy", caddyArgs]] as const) {
  const path = find(program);
  const tools = path !== null && find("openssl") !== null;
  const why = tools ? "" : ` (skipped: no ${path === null ? program : "openssl"})`;
  const name =
    `docs/serve/deploy ${program} passes events on, tells who asks and who has gone, and cuts slow headers${why}`;
  Deno.test({ name, ignore: !tools }, async () => {
    const home = await Deno.makeTempDir({ prefix: "vis-proxy-" });
    await using rig = await startRig([{ text: replyJson([], { final: "never" }), delayMs: 60_000 }], {
      ...{ hosts: [NAME], proxies: ["127.0.0.1"] },
    });
    const key = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", `/CN=${NAME}`];
    const files = ["-keyout", `${home}/key.pem`, "-out", `${home}/cert.pem`, "-addext", `subjectAltName=DNS:${NAME}`];
    const made = await new Deno.Command("openssl", { args: [...key, ...files], stderr: "null" }).output();
    assert.ok(made.success);
    const place = { home, port: await freePort(), rig };
    const env = { HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home };
    const silent = { stdin: "null", stdout: "null", stderr: "null" } as const;
    const proxy = new Deno.Command(path ?? "", { args: [...argsOf(place)], env, ...silent }).spawn();
    try {
      await check(place);
    } finally {
      proxy.kill("SIGKILL"); // If it is asked to end, it waits for connections.
      await proxy.status;
      await Deno.remove(home, { recursive: true });
    }
  });
}
