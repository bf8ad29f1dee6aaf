import type { Launcher } from "../_launcher.ts";

const AT_ONCE = 3;

/** A test of the program, shown as skipped with the reason where it cannot be launched this way. */
export function launched(launcher: Launcher, name: string, fn: (t: Deno.TestContext) => Promise<void>): void {
  const skipped = launcher.missing === "" ? "" : ` (skipped: ${launcher.missing})`;
  Deno.test({ name: `${name} [${launcher.name}]${skipped}`, ignore: launcher.missing !== "", fn });
}

/** Steps that know nothing of each other, a few at a time: most of a launch is waiting. */
export async function together(
  t: Deno.TestContext,
  steps: Readonly<Record<string, () => Promise<void>>>,
): Promise<void> {
  const queue = Object.entries(steps);
  const worker = async (): Promise<void> => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const [name, fn] = next;
      await t.step({ name, fn, sanitizeOps: false, sanitizeResources: false, sanitizeExit: false });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
