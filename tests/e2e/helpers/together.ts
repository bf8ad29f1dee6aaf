import type { Launcher } from "../_launcher.ts";

const AT_ONCE = 3;

/** Defines a test of the program. It is skipped with the reason if the program cannot be launched this way. */
export function launched(launcher: Launcher, name: string, fn: (t: Deno.TestContext) => Promise<void>): void {
  const skipped = launcher.missing === "" ? "" : ` (skipped: ${launcher.missing})`;
  Deno.test({ name: `${name} [${launcher.name}]${skipped}`, ignore: launcher.missing !== "", fn });
}

/** Runs independent steps, a few at a time, because a launch mostly waits. */
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
