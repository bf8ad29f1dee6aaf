import type { Launcher } from "../../e2e/_launcher.ts";
import { checkClean, type Ran, type Running, type StartOptions, User } from "../../e2e/helpers/user.ts";
import { TokenModel } from "./token_model.ts";
import type { Trial } from "./trial.ts";

export class World implements AsyncDisposable {
  readonly #started = new Set<Running>();
  #tokens = 0;

  protected constructor(readonly trial: Trial, readonly user: User, readonly model: TokenModel) {}

  static async make(trial: Trial, launcher: Launcher): Promise<World> {
    const model = new TokenModel();
    const user = await User.make(launcher, { handler: (request) => model.answer(request) });
    return new World(trial, user, model);
  }

  token(): string {
    return `t${++this.#tokens}`;
  }

  start(args: readonly string[], options: StartOptions = {}): Running {
    const running = this.user.start(args, options);
    this.#started.add(running);
    void running.over.then(() => this.#started.delete(running));
    return running;
  }

  /** Waits for the end of a program, and notes output that it must not have printed. */
  async over(running: Running, what: string): Promise<Ran> {
    const ran = await this.trial.within(what, running.over);
    this.checkText(what, ran);
    return ran;
  }

  async run(args: readonly string[], options: StartOptions = {}): Promise<Ran> {
    return await this.over(this.start(args, options), `vis ${args.join(" ")}`);
  }

  checkText(what: string, text: { readonly stdout: string; readonly stderr: string }): void {
    try {
      checkClean(text);
    } catch {
      const all = text.stderr + text.stdout;
      const [part = all] = /.*(a defect|^\s+at ).*/m.exec(all) ?? [];
      this.trial.found("unclear", `${what} printed a stack or "a defect": ${shortened(part)}`);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const running of this.#started) {
      signal(running, "SIGCONT");
      signal(running, "SIGKILL");
      await running.over;
    }
    await this.user[Symbol.asyncDispose]();
  }
}

/** Sends a signal to a program. Returns false if it had already ended. */
export function signal(running: Running, name: Deno.Signal): boolean {
  return unlessGone(() => running.kill(name));
}

export function signalTo(pid: number, name: Deno.Signal): boolean {
  return unlessGone(() => Deno.kill(pid, name));
}

function unlessGone(send: () => void): boolean {
  try {
    send();
    return true;
  } catch (error) {
    if (error instanceof TypeError || error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

export function shortened(text: string, most = 400): string {
  const line = text.trim().replace(/\s*\n\s*/g, " ⏎ ");
  return line.length > most ? `${line.slice(0, most)}…` : line;
}
