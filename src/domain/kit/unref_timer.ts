/** Lets the process end before the timer is due. Newer runtimes have objects for timers, and do nothing for a number. */
export function unrefTimer(timer: ReturnType<typeof setTimeout>): void {
  if (typeof timer === "object") timer.unref();
  else Deno.unrefTimer(timer);
}
