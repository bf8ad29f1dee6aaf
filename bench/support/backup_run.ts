import { join } from "node:path";
import { openStore } from "../../src/persistence/open_store.ts";
import { encode } from "../../src/sandbox/codec/codec.ts";
import { begun, block, image, iterationEnd, newIteration } from "../../tests/conformance/store/fixtures.ts";
import type { Figure } from "./figure.ts";
import { LargeConversation } from "./large_conversation.ts";

/** Another process makes the backup, like `vis db backup`, while this process stores iterations. */
export async function backupWhileWriting(
  folder: string,
  { megabytes }: { readonly megabytes: number },
): Promise<readonly Figure[]> {
  const path = join(folder, "backup.db");
  const store = await openStore({ path });
  await fill(path, megabytes);
  const turns = await LargeConversation.begin(store);
  const target = join(folder, "copy.db");
  const script = new URL("backup_main.ts", import.meta.url).pathname;
  const start = performance.now();
  const running = new Deno.Command(Deno.execPath(), { args: ["run", "-A", "--no-lock", script, path, target] })
    .output();
  let done = false;
  running.then(() => done = true, () => done = true);
  const waits: number[] = [];
  while (!done) {
    const begin = performance.now();
    await turns.iterate();
    waits.push(performance.now() - begin);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const seconds = (performance.now() - start) / 1000;
  const { success, stderr } = await running;
  if (!success) throw new Error(`Cannot back up: ${new TextDecoder().decode(stderr)}`);
  await store.close();
  const { size } = await Deno.stat(target);
  return [
    { what: "backup: size of the copy", way: "part", unit: "MB", samples: [size / 1e6], bar: null },
    { what: "backup while turns run, checked", way: "part", unit: "s", samples: [seconds], bar: null },
    { what: "writing one iteration meanwhile", way: "part", unit: "ms", samples: waits, bar: null },
    { what: "the slowest of them", way: "part", unit: "ms", samples: [Math.max(...waits)], bar: 10_000 },
  ];
}

async function fill(path: string, megabytes: number): Promise<void> {
  const store = await openStore({ path });
  const { queryId } = await begun(store);
  const bytes = crypto.getRandomValues(new Uint8Array(60_000));
  for (let position = 0; position * 0.96 < megabytes; position++) {
    const id = await store.beginIteration(newIteration(queryId, position));
    const saved = Array.from({ length: 16 }, (_, at) => {
      new DataView(bytes.buffer).setFloat64(0, position + at / 16);
      // Each value differs so much that the store cannot save it as a difference from the previous value.
      for (let i = 8; i < bytes.length; i += 97) bytes[i] = (bytes[i] ?? 0) + position + at + 1;
      return image(`v${at}_${position}`, { bytes: encode(bytes.slice()) });
    });
    await store.endIteration(id, iterationEnd([block(`fill(${position})`, { saved })]));
  }
  await store.close();
}
