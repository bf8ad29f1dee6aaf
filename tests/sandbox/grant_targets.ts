/** Files, ports and sockets. A test grants one of them and tries its neighbours. Each reports whether it was reached. */
import { createSocket } from "node:dgram";
import { once } from "node:events";
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

/** The folders `data` (granted for reading) and `out` (for writing) are next to `data2` and `other`. The text of a file
 * is its path. */
export class GrantTargets implements AsyncDisposable {
  readonly contacts: string[] = [];
  readonly #servers: Server[] = [];
  readonly #udp = createSocket("udp4", () => this.contacts.push("udp"));

  port = 0;
  otherPort = 0;

  constructor(readonly folder: string) {}

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
    for (let time = 1;; time++) {
      const targets = new GrantTargets(folder);
      try {
        await targets.#begin();
        return targets;
      } catch (error) {
        await targets.#end();
        // Another process has the port at the other address, or for UDP.
        if (time === 20 || !(error instanceof Error && "code" in error && error.code === "EADDRINUSE")) throw error;
      }
    }
  }

  async #begin(): Promise<void> {
    this.port = await this.#listen(0, "127.0.0.1");
    this.otherPort = await this.#listen(0, "127.0.0.1");
    await this.#listen(this.port, "127.0.0.2");
    this.#udp.bind(this.port, "127.0.0.1");
    await once(this.#udp, "listening");
    const unix = createServer((socket) => (this.contacts.push("unix"), socket.destroy()));
    unix.listen(join(this.folder, "socket"));
    await once(unix, "listening");
    this.#servers.push(unix);
  }

  async #end(): Promise<void> {
    this.#udp.close();
    for (const server of this.#servers) await new Promise((done) => server.close(done));
  }

  text(name: string): string {
    return Deno.readTextFileSync(join(this.folder, name));
  }

  /** Returns the targets that were contacted since the last call. Messages on their way have arrived by then. */
  async contacted(): Promise<string[]> {
    await new Promise((resolve) => setTimeout(resolve, 20));
    return this.contacts.splice(0).sort();
  }

  /** Resolves with the port; 0 requests a free one. */
  async #listen(asked: number, host: string): Promise<number> {
    const server = createServer((socket) => {
      this.contacts.push(`${host}:${port === this.port ? "granted" : "other"}`);
      socket.on("error", () => {});
      socket.once("data", () => socket.end(BODY));
    });
    server.listen(asked, host);
    await once(server, "listening");
    this.#servers.push(server);
    const address = server.address();
    const port = typeof address === "object" && address ? address.port : 0;
    return port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
    Deno.removeSync(this.folder, { recursive: true });
  }
}
