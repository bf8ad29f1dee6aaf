import rlm from "../../extensions/rlm/mod.ts";
import { startEngine } from "../../tests/helpers/engine.ts";
import { oracleProvider } from "../../tests/helpers/oracle_provider.ts";
import { replyJson } from "../../tests/helpers/scripted_provider.ts";

export const LATENCY_MS = 50;
const AT_ONCE = 8;
const PROMPTS = 64;
const IDEAL_MS = Math.ceil(PROMPTS / AT_ONCE) * LATENCY_MS;

/** No result can be lower than this overhead in percent, which the timers of this machine add. */
export async function timerOverhead(): Promise<number> {
  const begun = performance.now();
  for (let done = 0; done < PROMPTS; done += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, () => new Promise((wake) => setTimeout(wake, LATENCY_MS))));
  }
  return 100 * ((performance.now() - begun) / IDEAL_MS - 1);
}

/** The result is the time above the ideal of 64 plain calls, in percent. */
export async function schedulingOverhead(times: number): Promise<readonly number[]> {
  const code = [
    "const begun = performance.now()",
    `const all = await rlm.askAll(Array.from({ length: ${PROMPTS} }, (_, n) => "call " + run + "." + n))`,
    "const ms = performance.now() - begun",
    'await answer(all.every((one, n) => one === "call " + run + "." + n) ? ms : "out of order")',
  ].join("\n");
  let run = 0;
  await using engine = await startEngine([], {
    extensions: [rlm],
    provider: oracleProvider({
      iteration: () => replyJson(`const run = ${++run}\n${code}`),
      plain: (prompt) => ({ text: prompt, delayMs: LATENCY_MS }),
    }),
  });
  const samples: number[] = [];
  for (let time = 0; time <= times; time++) {
    const { answer } = await engine.ask("measure");
    const ms = Number(answer);
    if (!Number.isFinite(ms)) throw new Error(`Cannot measure sub-calls: ${answer.slice(0, 200)}`);
    if (time > 0) samples.push(100 * (ms / IDEAL_MS - 1));
  }
  return samples;
}
