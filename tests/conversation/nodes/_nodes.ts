import { Node } from "../../../src/conversation/nodes/node.ts";
import { openStore } from "../../../src/persistence/open_store.ts";
import type { Store } from "../../../src/persistence/store.ts";
import { ASKING } from "../../helpers/asking_extension.ts";
import { type Engine, type EngineOptions, startEngine } from "../../helpers/engine.ts";
import type { Postgres } from "../../helpers/postgres.ts";
import type { ScriptedReply } from "../../helpers/scripted_provider.ts";

export interface TestNode extends AsyncDisposable {
  readonly name: string;
  readonly engine: Engine;
  readonly node: Node;
  /** Ends the node as if its process had been killed, so that no later work of it is stored. */
  die(): Promise<void>;
}

const LOG = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

export async function startNode(
  server: Postgres,
  { url, through = url, name, replies, ...options }: {
    readonly url: string;
    readonly through?: string;
    readonly name: string;
    readonly replies: readonly ScriptedReply[];
    readonly settings?: NonNullable<EngineOptions["settings"]>;
    readonly scripted?: NonNullable<EngineOptions["scripted"]>;
  },
): Promise<TestNode> {
  const state = { dead: false };
  const store = mortal(await openStore({ path: through }), state);
  const nodes = await store.asNode?.(name);
  if (!nodes) throw new Error("Cannot share this database");
  const owner = { host: name, space: name, pid: 1, started: "1", session: 0 };
  const made: { node: Node | null } = { node: null };
  const engine = await startEngine(replies, {
    ...{ ...options, store, owner, extensions: [ASKING] },
    shared: (runner) =>
      made.node = new Node({ store, nodes, runner, owner, router: { routes: [] }, log: LOG, most: 8 }),
  });
  const { node } = made;
  if (node === null) throw new Error("Cannot start the node");
  await node.start();
  await server.sql(`UPDATE node SET since = '-infinity' WHERE id = '${name}'`, url);
  const close = async (): Promise<void> => {
    await node.close();
    if (!state.dead) await engine.close();
  };
  return {
    ...{ name, engine, node },
    die: async () => {
      state.dead = true;
      await node.close();
    },
    [Symbol.asyncDispose]: close,
  };
}

/** Returns a store whose calls never return once its process is dead. */
function mortal(store: Store, state: { readonly dead: boolean }): Store {
  return new Proxy(store, {
    get(target, name) {
      const found: unknown = Reflect.get(target, name, target);
      if (typeof found !== "function" || name === "close" || name === "asNode") return found;
      return (...args: unknown[]) => state.dead ? new Promise(() => {}) : Reflect.apply(found, target, args);
    },
  });
}
