/** Whether only this machine can reach a server on this host: a name or address without a port, in the form of a flag
 * or of a URL. */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|\[::1\]|::1|127(?:\.\d+){1,3})$/.test(host);
}
