export function timedOut(deadlineMs: number): string {
  return `Timeout (${deadlineMs / 1000}s)`;
}

export const CANCELLED = "The block was cancelled";

export const SHOWS_PROMISE = "shows a promise, not its result: await it (for several: await Promise.all(…))";

export function broughtBack(name: string): string {
  return `${name} belongs to the sandbox: it is as before again (let ${name} = … makes it your variable)`;
}

export function madePermanent(name: string): string {
  return `${name} belongs to the sandbox, but the block made it permanent: the original is lost`;
}
