/** `deno task soak [MINUTES]` runs eight conversations without a pause, by default for an hour. The exit code is 1 if
 * memory or work grows beyond a limit. */
import { join } from "node:path";
import { soakPage, type SoakResult } from "../bench/support/soak_page.ts";
import { ROOT } from "./_project.ts";

const GENERATED = join(ROOT, "docs/generated");

async function main([minutes = "60"]: readonly string[]): Promise<number> {
  if (!(Number(minutes) > 0)) {
    console.error(`Cannot soak for ${minutes} minutes: it is not a number above 0`);
    return 2;
  }
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", join(ROOT, "bench/run.ts"), "soak"],
    env: { VIS_BENCH_SOAK_MINUTES: minutes },
  }).spawn().status;
  if (!success) return 2;
  const { commit, machine, figures }: SoakResult = JSON.parse(
    await Deno.readTextFile(join(ROOT, "bench/results/soak.json")),
  );
  const { cores, memoryGb, load } = machine;
  const result: SoakResult = { commit, machine: { cores, memoryGb, load }, figures };
  await Deno.writeTextFile(join(GENERATED, "soak.json"), `${JSON.stringify(result, null, 2)}\n`);
  await Deno.writeTextFile(join(GENERATED, "soak.md"), soakPage(result));
  return result.figures.some(({ met }) => met === false) ? 1 : 0;
}

Deno.exitCode = await main(Deno.args);
