import type { ConfigAdmin } from "../../../src/channels/channel.ts";

const never = (): never => {
  throw new TypeError("This was not to be asked of the configuration");
};

export function fakeConfig(set: (key: string, words: readonly string[]) => void): ConfigAdmin {
  return {
    path: never,
    list: never,
    explain: never,
    schema: never,
    keys: never,
    offered: never,
    layer: never,
    set: (key, { words }) => {
      set(key, words);
      return Promise.resolve({ path: "", key, value: words[0] ?? null } as never);
    },
    unset: never,
    trustable: never,
    trust: never,
    distrust: never,
  };
}
