import { captured } from "../intrinsics/captured.ts";

/** Foreign code may call it, and then nothing happens: the task is taken out before it runs. */
const TRAMPOLINE = "$sandboxTurn";

/**
 * The only door into foreign code. The timeout of a script stops loops and regular expressions and keeps all
 * variables, but not what runs after an `await`. So a task is run by a script of ours that afterwards drains the
 * microtasks inside the same limit: loops after an await and loops of microtasks are stopped as well.
 * What a stopped drain leaves in the microtask queue is dropped by V8.
 */
export class TimedEntry {
  readonly #script: InstanceType<typeof captured.Script>;
  #task: (() => void) | null = null;
  #finished = true;

  /** Once per realm, before foreign code runs. */
  constructor() {
    const slot = `${TRAMPOLINE}Slot`;
    const trampoline = (): void => {
      const task = this.#task;
      if (!task) return;
      this.#task = null;
      task();
      captured.runMicrotasks();
      this.#finished = true;
    };
    captured.defineProperty(globalThis, slot, { value: trampoline, configurable: true });
    new captured.Script(`const ${TRAMPOLINE} = ${slot}`, { filename: "sandbox" }).runInThisContext();
    Reflect.deleteProperty(globalThis, slot);
    this.#script = new captured.Script(`${TRAMPOLINE}()`, { filename: "sandbox" });
  }

  /** To be called from a timer or an immediate. `task` must not throw. False when the limit stopped the turn. */
  run(limitMs: number, task: () => void): boolean {
    this.#task = task;
    this.#finished = false;
    try {
      this.#script.runInThisContext({ timeout: limitMs | 0 });
    } catch {
      this.#task = null; // the limit, or a stack or memory that foreign code used up
      captured.context.leave(); // a stopped script has run no `finally` of the context it was in
    }
    return this.#finished;
  }
}
