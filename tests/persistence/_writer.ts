/** Writes iterations to a database until it is stopped: `deno run _writer.ts PATH COUNT`. It prints a line for each
 * finished iteration. */
import { openStore } from "../../src/persistence/open_store.ts";
import { begun, block, image, iterationEnd, newIteration } from "../conformance/store/fixtures.ts";

const [path = "", count = "0"] = Deno.args;
const store = await openStore({ path });
const { queryId } = await begun(store);
await Deno.stdout.write(new TextEncoder().encode(`${queryId}\n`));
for (let position = 0; position < Number(count); position++) {
  const blocks = [0, 1, 2].map((at) => {
    const bytes = crypto.getRandomValues(new Uint8Array(3000));
    return block(`block ${at} of ${position}`, { reads: ["v0"], saved: [image(`v${at}`, { bytes })] });
  });
  const id = await store.beginIteration(newIteration(queryId, position, { blocks: blocks.map(({ code }) => code) }));
  await store.endIteration(id, iterationEnd(blocks, { system: [{ name: "$reasoning", text: `r ${position}` }] }));
  await Deno.stdout.write(new TextEncoder().encode(`${position}\n`));
}
await store.close();
