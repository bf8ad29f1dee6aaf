interface NetGrant {
  readonly host: string;
  readonly port: number;
}

const GRANT = /^(?:\[([0-9a-f:.]+)\]|([^\s:[\]/@]+)):(\d{1,5})$/i;
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/;

/** `localhost` means 127.0.0.1. Throws TypeError for other host names, because their lookup needs UDP, which the
 * sandbox blocks. */
export function parseNetGrant(text: string): NetGrant {
  const [, six, name, digits] = GRANT.exec(text) ?? [];
  const port = Number(digits);
  if (!(port >= 1 && port <= 65535)) {
    throw new TypeError(
      `Cannot grant net ${text}: it is not an address with a port from 1 to 65535, such as 127.0.0.1:8080`,
    );
  }
  if (six !== undefined) {
    if (!URL.canParse(`http://[${six}]/`)) {
      throw new TypeError(`Cannot grant net ${text}: it is not a valid IPv6 address; write one such as [::1]:8080`);
    }
    return { host: new URL(`http://[${six}]/`).hostname.slice(1, -1), port };
  }
  const host = name?.toLowerCase() === "localhost" ? "127.0.0.1" : name ?? "";
  if (IPV4.test(host)) return { host, port };
  if (/^[\d.]+$/.test(host)) {
    throw new TypeError(`Cannot grant net ${text}: it is not a valid IPv4 address; write one such as 127.0.0.1:8080`);
  }
  throw new TypeError(
    `Cannot grant net ${text}: the lookup of a name needs UDP, which the sandbox does not allow; name an IP ` +
      "address, or write a function that makes the request in the main process",
  );
}

export const REALM_GLOBALS: Readonly<Record<string, "net" | "read" | "write" | "env">> = {
  "fetch": "net",
  "Deno.readTextFile": "read",
  "Deno.readFile": "read",
  "Deno.readDir": "read",
  "Deno.stat": "read",
  "Deno.writeTextFile": "write",
  "Deno.writeFile": "write",
  "Deno.env.get": "env",
};
