/* The main process uses these sentences if the child cannot send them. */

export function timedOut(deadlineMs: number): string {
  return `Timeout (${deadlineMs / 1000}s)`;
}

/** The advice follows `timedOut` if the child still exists. */
export const AFTER_TIMEOUT = 'a larger "timeMs" of the block raises this limit; its changes are kept';

export const CANCELLED = "The block was cancelled";

/** This sentence follows the number of a block. */
export const SHOWS_PROMISE = "shows a promise, not its result: await it (for several: await Promise.all(…))";

export function broughtBack(name: string): string {
  return `${name} belongs to the sandbox: it is as before again (let ${name} = … makes it your variable)`;
}

export function madePermanent(name: string): string {
  return `${name} belongs to the sandbox, but the block made it permanent: the original is lost`;
}
