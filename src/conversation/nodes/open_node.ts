import { newId } from "../../domain/kit/id.ts";
import type { Store } from "../../persistence/store/store.ts";
import type { ConversationParts } from "../conversation_parts.ts";
import { Node, type NodeParts } from "./node.ts";

/** Queries that a node runs at a time; further ones wait, for any node. */
const MOST = 64;

interface OpenedNode {
  /** For the conversations. */
  readonly parts: Required<Pick<ConversationParts, "shared">>;
  /** Begins to take requests. Call it once the conversations have their runner. */
  start(): Promise<void>;
  /** Call it once nothing runs here any more. */
  close(): Promise<void>;
}

/** Makes this process one of the nodes that share a database. */
export async function openNode(
  store: Store,
  parts: Pick<NodeParts, "router" | "owner" | "log">,
): Promise<OpenedNode> {
  if (!store.asNode) throw new Error("Cannot share a database of one machine");
  const nodes = await store.asNode(newId());
  const all = store.of(null);
  let node: Node | null = null;
  return {
    parts: { shared: (runner) => node = new Node({ ...parts, store: all, nodes, runner, most: MOST }) },
    start: async () => await node?.start(),
    close: async () => await node?.close(),
  };
}
