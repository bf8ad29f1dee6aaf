import assert from "node:assert/strict";
import { type Picture, pictureOf } from "../../helpers/conversation_picture.ts";
import { CALL, CONTEXT, replyBelow, replyOf, REQUESTS, stepOf, STEPS } from "../../helpers/kill_script.ts";
import type { MockReply, MockRequest } from "../../helpers/wires/openai_mock.ts";
import type { Launcher } from "../_launcher.ts";
import { descendants } from "./processes.ts";
import { type Running, User } from "./user.ts";

/** The moment of a kill: in the step's request, in the middle of its reply, or some time after its reply. */
export interface Kill {
  readonly step: number;
  readonly at: "request" | "half" | "child request" | { readonly afterMs: number };
  readonly below?: boolean;
}

const counts = CALL;

export class Player {
  readonly #user: User;
  readonly #context: string;
  #running: Running | null = null;
  #kill: Kill | null = null;
  #step = 1;

  protected constructor(user: User, context: string) {
    this.#user = user;
    this.#context = context;
  }

  static async with(launcher: Launcher, work: (player: Player) => Promise<void>): Promise<void> {
    let player: Player | null = null;
    await using user = await User.make(launcher, {
      handler: (asked) => player?.answer(asked) ?? { status: 500 },
    });
    const context = user.path("words.txt");
    await Deno.writeTextFile(context, CONTEXT);
    player = new Player(user, context);
    await work(player);
  }

  /** Runs the remaining requests of the conversation until it is killed or has done all. Returns whether it was
   * killed. */
  async play(kill: Kill | null): Promise<boolean> {
    for (;;) {
      const { step, given } = await this.#place();
      if (step > (kill?.step ?? STEPS.length)) return false;
      if (await this.#run(kill, { step, given })) return true;
    }
  }

  async #run(kill: Kill | null, { step, given }: { readonly step: number; readonly given: boolean }): Promise<boolean> {
    const request = REQUESTS.findLast(({ first }) => first <= step);
    this.#step = step;
    this.#kill = kill;
    const context = given ? [] : ["--context", this.#context];
    const budget = ["--max-iterations", String(STEPS.length)];
    this.#running = this.#user.start(["run", "-c", ...budget, ...context, request?.text ?? ""]);
    const { code, signal, stderr } = await this.#running.ended;
    if (signal === null) assert.equal(code, 0, stderr);
    else assert.equal(signal, "SIGKILL");
    return signal !== null;
  }

  async picture(): Promise<Picture> {
    return (await pictureOf({ path: this.#user.database, workspace: this.#user.workspace })).picture;
  }

  async answer({ texts }: MockRequest): Promise<MockReply> {
    const below = replyBelow(texts.slice(0, 2).join("\n"));
    if (below !== null) {
      if (this.#fits("child request")) this.#end();
      return { text: below, counts };
    }
    const step = this.#step;
    const text = replyOf(step);
    const kill = this.#kill?.step === step ? this.#kill : null;
    if (this.#fits("request")) {
      this.#end();
      return { fault: "no_headers" };
    }
    this.#step++;
    if (kill?.at === "half") {
      setTimeout(() => this.#end(), 30);
      return { text, counts, fault: "silence" };
    }
    if (typeof kill?.at === "object") setTimeout(() => this.#end(), kill.at.afterMs);
    return await Promise.resolve({ text, counts });
  }

  #fits(at: Kill["at"]): boolean {
    // A sub-query asks while its step runs, which is counted by then.
    const step = at === "child request" ? this.#step - 1 : this.#step;
    return this.#kill?.at === at && this.#kill.step === step;
  }

  #end(): void {
    const running = this.#running;
    if (!running) return;
    if (this.#kill?.below) {
      // The program must not see its processes end, because another test covers that.
      tryKill(() => running.kill("SIGSTOP"));
      for (const { pid } of descendants(running.pid)) tryKill(() => Deno.kill(pid, "SIGKILL"));
    }
    tryKill(() => running.kill("SIGKILL"));
  }

  /** Returns the step after the stored ones, and whether the database has the input of the first request. */
  async #place(): Promise<{ readonly step: number; readonly given: boolean }> {
    const made = await Deno.stat(this.#user.database).then(() => true, () => false);
    if (!made) return { step: 1, given: false };
    return await this.#user.look(async (store) => {
      const branch = await store.latestConversation(this.#user.workspace);
      if (!branch) return { step: 1, given: false };
      let last = 0;
      for (const { queryId } of await store.queries(branch.branchId)) {
        for (const { status, thinking } of await store.iterations(queryId)) {
          if (status === "done" || status === "error") last = Math.max(last, stepOf(thinking) ?? 0);
        }
      }
      const given = (await store.variables(branch.branchId)).some(({ name }) => name === "context");
      return { step: last + 1, given };
    });
  }
}

/** The process may have ended. */
function tryKill(kill: () => void): void {
  try {
    kill();
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound) && !(error instanceof TypeError)) throw error;
  }
}
