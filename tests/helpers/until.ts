const PATIENCE_MS = 60_000;
const PAUSE_MS = 5;

/** Waits until `holds` returns true. Fails after a minute, with a description of the state. */
export async function until(holds: () => boolean | Promise<boolean>, said: () => string = () => ""): Promise<void> {
  for (const end = performance.now() + PATIENCE_MS; !await holds();) {
    if (performance.now() > end) throw new Error(`It never came to that: ${said() || holds}`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
