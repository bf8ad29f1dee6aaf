/** Whether a path leads to something. Mostly there is nothing: a call that waits wakes no thread of the runtime, and
 * loads none of Node's modules. */
export function isThere(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}
