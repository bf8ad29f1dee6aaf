import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { PERMISSIONS, V8_FLAGS } from "../../../scripts/flags.ts";
import { ROOT } from "../../../scripts/_project.ts";
import { type Launcher, sourceLauncher } from "../_launcher.ts";
import { checkClean, type Ran, type Running, type User } from "./user.ts";

/** A command's output ends with this character, and its exit code follows. */
export const END = "\u0004";

const FLAGS = ["--quiet", "--no-prompt", "--config", join(ROOT, "deno.json"), ...PERMISSIONS];
const MAIN = fileURLToPath(new URL("../_commands_main.ts", import.meta.url));

export async function commandsLauncher(): Promise<Launcher> {
  const { env } = await sourceLauncher();
  const argv = [Deno.execPath(), "run", ...FLAGS, `--v8-flags=${V8_FLAGS.join(",")}`, MAIN] as const;
  return { name: "source", argv, env, missing: "", ready: () => Promise.resolve() };
}

export class Commands implements AsyncDisposable {
  readonly #running: Running;
  readonly #socket: Socket;

  protected constructor(running: Running, socket: Socket) {
    this.#running = running;
    this.#socket = socket;
  }

  static async of(user: User): Promise<Commands> {
    const path = user.path("commands");
    const server = createServer().listen(path);
    await once(server, "listening");
    const running = user.start([path]);
    const socket = await Promise.race([
      once(server, "connection").then(([first]): Socket => first),
      running.over.then(({ stderr }) => Promise.reject(new Error(stderr))),
    ]);
    server.close();
    return new Commands(running, socket);
  }

  async run(args: readonly string[]): Promise<Ran> {
    const { stdout: { length: out }, stderr: { length: err } } = this.#running;
    const written = () => [this.#running.stdout.slice(out), this.#running.stderr.slice(err)] as const;
    this.#socket.write(`${JSON.stringify(args)}\n`);
    await this.#running.until(
      `end of ${args.join(" ")}`,
      () => written().every((text) => text.endsWith("\n") && text.includes(END)),
    );
    const [stdout = "", stderr = ""] = written().map((text) => text.slice(0, text.indexOf(END)));
    const ran = { code: Number(written()[0].split(END)[1]), signal: null, stdout, stderr };
    checkClean(ran);
    return ran;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.end();
    await this.#running.over;
  }
}
