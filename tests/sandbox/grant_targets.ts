/** Files, ports and sockets of which a test grants one and tries its neighbours. Each says whether it was reached. */
import { createSocket } from "node:dgram";
import { createServer, type Server } from "node:net";
import { join } from "node:path";

export const ALL_GLOBALS: readonly string[] = [
  "fetch",
  "Deno.readTextFile",
  "Deno.readFile",
  "Deno.readDir",
  "Deno.stat",
  "Deno.writeTextFile",
  "Deno.writeFile",
  "Deno.env.get",
];

const BODY = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nhi";

/** Folders `data` (granted for reading) and `out` (for writing) beside `data2`, `other`; text of a file is its path. */
export class GrantTargets implements AsyncDisposable {
  readonly contacts: string[] = [];
  readonly #servers: Server[] = [];
  readonly #udp = createSocket("udp4", () => this.contacts.push("udp"));

  constructor(readonly folder: string, readonly port: number, readonly otherPort: number) {}

  static async open(): Promise<GrantTargets> {
    const folder = Deno.realPathSync(Deno.makeTempDirSync());
    for (const name of ["data/sub", "data2", "out", "other"]) Deno.mkdirSync(join(folder, name), { recursive: true });
    for (const name of ["data/a", "data/sub/b", "data2/a", "out/a", "other/a", "alone"]) {
      Deno.writeTextFileSync(join(folder, name), `text of ${name}`);
    }
    Deno.symlinkSync(join(folder, "other/a"), join(folder, "data/link"));
    Deno.symlinkSync(join(folder, "other"), join(folder, "data/folder"));
    Deno.symlinkSync(join(folder, "data/a"), join(folder, "data/inner"));
    Deno.symlinkSync(join(folder, "other/made"), join(folder, "out/link"));
    const [port, otherPort] = await twoPorts();
    const targets = new GrantTargets(folder, port, otherPort);
    await targets.#listen(port, "127.0.0.1");
    await targets.#listen(port, "127.0.0.2");
    await targets.#listen(otherPort, "127.0.0.1");
    await new Promise<void>((done) => targets.#udp.bind(port, "127.0.0.1", done));
    const unix = createServer((socket) => (targets.contacts.push("unix"), socket.destroy()));
    await new Promise<void>((done) => unix.listen(join(folder, "socket"), done));
    targets.#servers.push(unix);
    return targets;
  }

  text(name: string): string {
    return Deno.readTextFileSync(join(this.folder, name));
  }

  /** What was contacted since the last time; messages on their way have arrived. */
  async contacted(): Promise<string[]> {
    await new Promise((resolve) => setTimeout(resolve, 20));
    return this.contacts.splice(0).sort();
  }

  async #listen(port: number, host: string): Promise<void> {
    const server = createServer((socket) => {
      this.contacts.push(`${host}:${port === this.port ? "granted" : "other"}`);
      socket.on("error", () => {});
      socket.once("data", () => socket.end(BODY));
    });
    await new Promise<void>((done) => server.listen(port, host, done));
    this.#servers.push(server);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#udp.close();
    for (const server of this.#servers) await new Promise((done) => server.close(done));
    Deno.removeSync(this.folder, { recursive: true });
  }
}

async function twoPorts(): Promise<[number, number]> {
  const servers = [createServer(), createServer()];
  for (const server of servers) await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const ports = servers.map((server) => {
    const address = server.address();
    return typeof address === "object" && address ? address.port : 0;
  });
  for (const server of servers) await new Promise((done) => server.close(done));
  return [ports[0] ?? 0, ports[1] ?? 0];
}
