/** Whether only this machine reaches what listens on the host: a name or an address without a port, as flags have it or
 * as a URL has it. */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|\[::1\]|::1|127(?:\.\d+){1,3})$/.test(host);
}
