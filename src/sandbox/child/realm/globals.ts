import { captured } from "../intrinsics/captured.ts";
import { look } from "../intrinsics/look.ts";
import type { RunContext } from "../run/context.ts";

type Plain = Record<string, unknown>;

/** A frozen object without a prototype of ours; its functions are frozen too. */
function bare(members: Plain): Plain {
  for (const key of Object.keys(members)) captured.freeze(members[key]);
  return captured.freeze(Object.assign(Object.create(null), members));
}

export interface RealmTurns {
  /** Enters foreign code under a time limit. */
  soon(task: () => void, owner: RunContext | null): void;
  /** Leaves foreign code first. */
  afterwards(task: () => void): void;
  /** An operation of the runtime has started or ended: `soon` follows without anything else. */
  operations(change: 1 | -1): void;
}

/** Replaces Deno's objects: the runtime's `performance`, `crypto` and FinalizationRegistry lead to objects that a block
 * must not reach, or run a block's code outside its time limit. */
export function realmGlobals(turns: RealmTurns, current: () => RunContext | null): Plain {
  const { subtle } = crypto;
  const digest = subtle.digest.bind(subtle);
  const getRandomValues = crypto.getRandomValues.bind(crypto);
  const randomUUID = crypto.randomUUID.bind(crypto);
  const clone = globalThis.structuredClone.bind(globalThis);
  const NativeRegistry = FinalizationRegistry;
  const { register, unregister } = NativeRegistry.prototype;

  /** The operation starts after this turn, so it is given text and the current bytes: reading an object may run code. */
  const digestLater = (algorithm: unknown, data: BufferSource): Promise<unknown> =>
    new captured.Promise((resolve, reject) => {
      const isObject = typeof algorithm === "object" && algorithm !== null;
      const name = `${isObject ? captured.get(algorithm, "name") : algorithm}`, owner = current();
      if (!look.isArrayBuffer(data) && !look.isView(data)) {
        throw new captured.TypeError("Cannot digest this value: pass an ArrayBuffer or a view of one");
      }
      const copy = clone(data);
      const end = (settle: () => void): void => {
        turns.operations(-1);
        turns.soon(settle, owner);
      };
      turns.operations(1);
      turns.afterwards(() => {
        void captured.apply(captured.then, digest(name, copy), [
          (bytes: unknown) => end(() => resolve(bytes)),
          (error: unknown) => end(() => reject(error)),
        ]);
      });
    });

  /** Has no class above it: the native one would be its prototype, and calls back outside of a turn. */
  class Registry {
    readonly #native: FinalizationRegistry<unknown>;

    constructor(cleanup: (held: unknown) => void) {
      if (typeof cleanup !== "function") throw new captured.TypeError("FinalizationRegistry needs a function");
      const owner = current();
      this.#native = new NativeRegistry((held) => turns.soon(() => cleanup(held), owner));
    }

    register(target: WeakKey, held: unknown, token?: WeakKey): void {
      captured.apply(register, this.#native, [target, held, token]);
    }

    unregister(token: WeakKey): boolean {
      return captured.apply(unregister, this.#native, [token]);
    }
  }
  captured.defineProperty(Registry, "name", { value: "FinalizationRegistry" });
  captured.defineProperty(Registry.prototype, Symbol.toStringTag, {
    value: "FinalizationRegistry",
    configurable: true,
  });

  return {
    crypto: bare({
      getRandomValues: (array: Uint8Array<ArrayBuffer>) => getRandomValues(array),
      randomUUID: () => randomUUID(),
      subtle: bare({ digest: (algorithm: unknown, data: BufferSource) => digestLater(algorithm, data) }),
    }),
    performance: bare({ now: () => captured.now() }),
    FinalizationRegistry: Registry,
  };
}
