/** The targets of attacks. Each reports afterwards whether it was reached. */
import { createSocket } from "node:dgram";
import { createServer } from "node:net";
import { join } from "node:path";

const SECRET = "SECRET-7f3a";
const VICTIM = `trap 'echo signalled > "$1/signalled"' USR1; echo ready; while :; do sleep 0.02; done`;

export interface TargetFacts {
  readonly dir: string;
  readonly secret: string;
  readonly link: string;
  readonly module: string;
  readonly json: string;
  readonly unix: string;
  readonly abstract: string;
  readonly port: number;
  readonly udp: number;
  readonly victim: number;
  readonly parent: number;
  readonly word: string;
}

export class AttackTargets {
  readonly facts: TargetFacts;
  readonly #closers: (() => unknown)[];
  readonly #contacts: string[];
  #before: string;

  constructor(facts: TargetFacts, contacts: string[], closers: (() => unknown)[]) {
    this.facts = facts;
    this.#contacts = contacts;
    this.#closers = closers;
    this.#before = this.#state();
  }

  static async open(): Promise<AttackTargets> {
    const dir = Deno.makeTempDirSync();
    const at = (name: string): string => join(dir, name);
    Deno.mkdirSync(at("sub"));
    for (const name of ["movable", "removable", "mode", "full"]) Deno.writeTextFileSync(at(name), name);
    Deno.writeTextFileSync(at("secret.txt"), SECRET);
    Deno.writeTextFileSync(at("secret.mjs"), `export default "${SECRET}"`);
    Deno.writeTextFileSync(at("secret.json"), `{"secret":"${SECRET}"}`);
    Deno.writeTextFileSync(at("secret.env"), `ATTACK_SECRET=${SECRET}\n`);
    Deno.symlinkSync(at("secret.txt"), at("link"));
    const contacts: string[] = [];
    const tcp = createServer((socket) => {
      contacts.push("tcp");
      socket.on("error", () => {}); // The attacker is already gone.
      socket.end("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    });
    await new Promise<void>((done) => tcp.listen(0, "127.0.0.1", done));
    const unix = createServer((socket) => (contacts.push("unix"), socket.destroy()));
    await new Promise<void>((done) => unix.listen(at("socket"), done));
    const abstract = `vis-attack-${crypto.randomUUID()}`;
    const hidden = createServer((socket) => (contacts.push("abstract"), socket.destroy()));
    await new Promise<void>((done) => hidden.listen({ path: `\0${abstract}` }, done));
    const udp = createSocket("udp4", (message, { port, address }) => {
      contacts.push("udp");
      // The target refuses as a name server does, so that the client does not wait until it gives up.
      udp.send(Uint8Array.of(...message.subarray(0, 2), 0x81, 0x85, 0, 0, 0, 0, 0, 0, 0, 0), port, address);
    });
    await new Promise<void>((done) => udp.bind(0, "127.0.0.1", done));
    const victim = new Deno.Command("/bin/sh", { args: ["-c", VICTIM, "victim", dir], stdout: "piped" }).spawn();
    const reader = victim.stdout.getReader();
    await reader.read(); // The shell has set its trap.
    const address = tcp.address();
    const facts: TargetFacts = {
      dir,
      secret: at("secret.txt"),
      link: at("link"),
      module: at("secret.mjs"),
      json: at("secret.json"),
      unix: at("socket"),
      abstract,
      port: typeof address === "object" && address ? address.port : 0,
      udp: udp.address().port,
      victim: victim.pid,
      parent: Deno.pid,
      word: SECRET,
    };
    return new AttackTargets(facts, contacts, [
      () => tcp.close(),
      () => unix.close(),
      () => hidden.close(),
      () => udp.close(),
      async () => {
        victim.kill("SIGKILL");
        await reader.cancel();
        await victim.status;
      },
      () => Deno.removeSync(dir, { recursive: true }),
    ]);
  }

  /** Returns the targets that were reached since the last call, with the data that a block delivered. */
  async reached(handed: readonly unknown[]): Promise<string[]> {
    await new Promise((done) => setTimeout(done, 5));
    const found = this.#contacts.splice(0);
    const text = handed.map(String).join();
    if (text.includes(SECRET)) found.push("secret");
    if (/(^|\0)(PATH|HOME)=/.test(text)) found.push("environment");
    const state = this.#state();
    if (state !== this.#before) found.push("files");
    this.#before = state;
    return found;
  }

  /** A shell handles the signal and sleeps in between, so it needs time. */
  async signalled(): Promise<boolean> {
    const marker = join(this.facts.dir, "signalled");
    for (let i = 0; i < 20; i++) {
      try {
        Deno.removeSync(marker);
        this.#before = this.#state();
        return true;
      } catch {
        await new Promise((done) => setTimeout(done, 5));
      }
    }
    return false;
  }

  async close(): Promise<void> {
    for (const close of this.#closers) await close();
  }

  #state(): string {
    const { dir } = this.facts;
    const entries = [...Deno.readDirSync(dir)].map(({ name }) => {
      const { mode, size } = Deno.lstatSync(join(dir, name));
      return name === "signalled" ? "" : `${name}:${mode}:${name.startsWith("written") ? "" : size}`;
    });
    return entries.sort().join("\n");
  }
}
