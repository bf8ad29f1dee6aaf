import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

export async function collectGarbage(): Promise<void> {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  await new Promise((done) => setTimeout(done, 0)); // Values of the current job count as reachable.
  collect();
}
