import { captured } from "../intrinsics/captured.ts";

/** Foreign code may call it without effect: the task is taken out before it runs. */
const TRAMPOLINE = "$sandboxTurn";

/** The only entry point into foreign code. The timeout of a script stops loops and regular expressions and keeps all
 * variables, but does not cover code after an `await`. Therefore a script of ours runs the task and then drains the
 * microtasks inside the same limit, so that loops after an await and loops of microtasks are stopped too. V8 drops what
 * a stopped drain leaves in the microtask queue. */
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

  /** Call from a timer or an immediate. `task` must not throw. Returns false if the limit stopped the turn. */
  run(limitMs: number, task: () => void): boolean {
    this.#task = task;
    this.#finished = false;
    try {
      this.#script.runInThisContext({ timeout: limitMs | 0 });
    } catch {
      this.#task = null; // the limit was reached, or foreign code used up the stack or memory
      captured.context.leave(); // a stopped script has not run the `finally` of its context
    }
    return this.#finished;
  }
}
