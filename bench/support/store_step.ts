import type { Store } from "../../src/persistence/store.ts";
import { encode } from "../../src/sandbox/codec/codec.ts";
import { block, image, iterationEnd, newIteration } from "../../tests/conformance/store/fixtures.ts";

const PROMPT = "You are Vis, and these are your rules. ".repeat(150);

export async function storeStep(store: Store, queryId: string, position: number): Promise<void> {
  const text = Array.from({ length: 64 }, (_, line) => `line ${line} of ${position}: ${position * line}`.padEnd(64))
    .join("");
  const bytes = encode(text);
  const list = encode(Array.from({ length: position }, (_, index) => index));
  const codes = [
    `const part${position} = await fs.readFile("part-${position}")\npart${position}`,
    `sizes.push(${position})`,
  ];
  const id = await store.beginIteration(
    newIteration(queryId, position, {
      systemPrompt: PROMPT,
      blocks: codes,
      userPrompt: JSON.stringify([{ role: "user", content: `journal of ${position}: ${text}` }]),
      response: JSON.stringify({ code: codes }),
    }),
  );
  await store.endIteration(
    id,
    iterationEnd([
      block(codes[0] ?? "", { value: bytes, result: { preview: text }, saved: [image(`part${position}`, { bytes })] }),
      block(codes[1] ?? "", { reads: ["sizes"], saved: [image("sizes", { bytes: list })] }),
    ]),
  );
}
