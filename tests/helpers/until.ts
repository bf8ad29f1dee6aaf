const PATIENCE_MS = 60_000;
const PAUSE_MS = 5;

export async function until(holds: () => boolean | Promise<boolean>, said: () => string = () => ""): Promise<void> {
  for (const end = performance.now() + PATIENCE_MS; !await holds();) {
    if (performance.now() > end) throw new Error(`Cannot wait longer than ${PATIENCE_MS} ms: ${said() || holds}`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
