import { begun, block, iterationEnd, newIteration, newQuery, queryEnd } from "../conformance/store/fixtures.ts";
import type { Engine } from "./engine.ts";

export async function fillLong({ store }: Pick<Engine, "store">, queries: number): Promise<string> {
  const { branchId, queryId } = await begun(store, { text: "The first of many" });
  await iterate(queryId, 1);
  for (let at = 1; at < queries; at++) await iterate(await store.beginQuery(newQuery(branchId, `Part ${at}`)), 1);
  await iterate(await store.beginQuery(newQuery(branchId, "Read every part")), 5_000);
  return branchId;

  async function iterate(id: string, count: number): Promise<void> {
    for (let at = 0; at < count; at++) {
      const code = `const part = await read(${at + 1})`;
      const facts = { userPrompt: "[]", response: "{}", thinking: `Part ${at + 1} comes next`, blocks: [code] };
      const iteration = await store.beginIteration(newIteration(id, at, facts));
      await store.endIteration(iteration, iterationEnd([block(code, { result: { preview: `part ${at + 1}` } })]));
    }
    await store.endQuery(id, queryEnd({ answer: `read ${count}`, iterations: count }));
  }
}
