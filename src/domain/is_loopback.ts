/** Whether only this machine reaches what listens on the host: a name or an address without a port. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
}
