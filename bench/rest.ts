import type { Figure } from "./support/figure.ts";
import { proportionalMb, treeOf } from "./support/process_tree.ts";
import type { Programs } from "./support/programs.ts";
import { type Served, startServed } from "./support/served.ts";
import { startSlowModel } from "./support/slow_model.ts";

const CONVERSATIONS = 500, AT_ONCE = 16, SETTLE_MS = 3_000;
const CONFIG = { server: { requestsPerMinute: 1_000_000, burst: 100_000 } };

export async function rest({ all }: Programs): Promise<readonly Figure[]> {
  const program = all.at(-1);
  if (!program) throw new Error("Cannot measure: there is no program; build one with deno task compile");
  const model = startSlowModel({ latencyMs: 1 });
  try {
    await using served = await startServed(program, { baseUrl: model.baseUrl, config: CONFIG });
    const idle = proportionalMb(treeOf(served.pid));
    await conversations(served);
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    const tree = treeOf(served.pid);
    const figure = { way: program.way, bar: null };
    return [
      { ...figure, what: "memory before the first conversation", unit: "MiB", samples: [idle] },
      { ...figure, what: "sandboxes at rest after 500", unit: "", samples: [tree.length - 1], bar: 32 },
      {
        ...figure,
        what: "memory of the process tree after 500",
        unit: "MiB",
        samples: [proportionalMb(tree)],
        bar: 2_200,
      },
      { ...figure, what: "of which the main process", unit: "MiB", samples: [proportionalMb([served.pid])] },
    ];
  } finally {
    await model.close();
  }
}

async function conversations(served: Served): Promise<void> {
  const keys = Array.from({ length: CONVERSATIONS }, (_, at) => `rest-${at}`);
  const worker = async (): Promise<void> => {
    for (let key = keys.pop(); key !== undefined; key = keys.pop()) await served.ask(await served.conversation(), key);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
