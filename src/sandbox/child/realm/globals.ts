import { captured } from "../intrinsics/captured.ts";

type Plain = Record<string, unknown>;

/** No prototype of ours, frozen, and so are its functions. */
function bare(members: Plain): Plain {
  for (const key of Object.keys(members)) captured.freeze(members[key]);
  return captured.freeze(Object.assign(Object.create(null), members));
}

export interface RealmTurns {
  /** Enters foreign code under a time limit. */
  soon(task: () => void): void;
  /** Leaves foreign code first. */
  afterwards(task: () => void): void;
  /** An operation of the runtime has begun, or ended: `soon` follows from it without anything else. */
  operations(change: 1 | -1): void;
}

/**
 * Own objects in place of Deno's: `performance`, `crypto` and FinalizationRegistry of the runtime lead to what a
 * block must not reach, or run a block's code outside a time limit.
 */
export function realmGlobals(turns: RealmTurns): Plain {
  const { subtle } = crypto;
  const digest = subtle.digest.bind(subtle);
  const getRandomValues = crypto.getRandomValues.bind(crypto);
  const randomUUID = crypto.randomUUID.bind(crypto);
  const clone = globalThis.structuredClone.bind(globalThis);
  const NativeRegistry = FinalizationRegistry;

  const digestLater = (name: string, data: BufferSource): Promise<unknown> =>
    new captured.Promise((resolve, reject) => {
      const copy = clone(data); // as it is now: the operation starts when this turn has ended
      const end = (settle: () => void): void => {
        turns.operations(-1);
        turns.soon(settle);
      };
      turns.operations(1);
      turns.afterwards(() => {
        void captured.apply(captured.then, digest(name, copy), [
          (bytes: unknown) => end(() => resolve(bytes)),
          (error: unknown) => end(() => reject(error)),
        ]);
      });
    });

  class Registry extends NativeRegistry<unknown> {
    constructor(cleanup: (held: unknown) => void) {
      if (typeof cleanup !== "function") throw new captured.TypeError("FinalizationRegistry needs a function");
      super((held) => turns.soon(() => cleanup(held)));
    }
  }
  captured.defineProperty(Registry, "name", { value: "FinalizationRegistry" });

  return {
    crypto: bare({
      getRandomValues: (array: Uint8Array<ArrayBuffer>) => getRandomValues(array),
      randomUUID: () => randomUUID(),
      subtle: bare({ digest: (name: string, data: BufferSource) => digestLater(name, data) }),
    }),
    performance: bare({ now: () => captured.now() }),
    FinalizationRegistry: Registry,
  };
}
