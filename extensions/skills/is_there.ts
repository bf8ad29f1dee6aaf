/** Whether a path exists. Usually it does not. Synchronous, so it wakes no thread of the runtime, and it loads no Node
 * modules. */
export function isThere(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}
