import type { Store } from "../../src/persistence/store.ts";
import { encode } from "../../src/sandbox/codec/codec.ts";
import { block, image, iterate, newQuery, queryEnd } from "../conformance/store/fixtures.ts";
import { startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";
import { type Filled, LIVE_WORKSPACE } from "./_flip_database.ts";

export async function askAgain(store: Store, branchId: string): Promise<void> {
  const queryId = await store.beginQuery(newQuery(branchId, "one more"));
  const saved = [image("added", { bytes: encode("of one more query") })];
  await iterate(store, { queryId, position: 0, blocks: [block("const added = 'of one more query'", { saved })] });
  await store.endQuery(queryId, queryEnd({ answer: "added" }));
}

/** Returns the variables that a block of a real sandbox finds; with `known`, the expected ones. Closes the store. */
export async function seenBySandbox(store: Store, { live }: Filled): Promise<{ found: string; known: string }> {
  const text = "let sum = 7\nfor (const char of JSON.stringify(all)) sum = (sum * 31 + char.charCodeAt(0)) | 0";
  const names = Object.keys(live.values).join(", ");
  const engine = await startEngine([replyJson(`const all = { ${names} }\n${text}`, { final: "{{sum}}" })], {
    store,
    workspace: LIVE_WORKSPACE,
  });
  try {
    const { answer } = await engine.ask("What do you see?");
    let sum = 7;
    for (const char of JSON.stringify(live.values)) sum = (sum * 31 + char.charCodeAt(0)) | 0;
    return { found: answer, known: String(sum) };
  } finally {
    await engine.close();
  }
}
