/** Accepts https, and http only to a loopback address, which another machine cannot impersonate. */
export function isSecureUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === "https:" || (protocol === "http:" && isLoopback(hostname));
}

export function isLoopback(host: string): boolean {
  return /^(?:localhost|\[::1\]|::1|127(?:\.\d+){1,3})$/.test(host);
}

export function isAllAddresses(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}

/** A server on all addresses accepts the name `localhost`, but not an address such as 0.0.0.0. */
export function serverUrl(host: string, port: number): string {
  const reached = isAllAddresses(host) ? "localhost" : host;
  return `http://${reached.includes(":") ? `[${reached}]` : reached}:${port}/`;
}

export function isPostgres(location: string): boolean {
  return /^postgres(ql)?:\/\//.test(location);
}

export function withoutLogin(address: string): string {
  return address.replace(/^(\w+:\/\/)?[^/]*@/, "$1");
}

export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
