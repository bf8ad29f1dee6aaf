import { BlockList, isIP, isIPv6 } from "node:net";

/** Reads the client address of a request: the one that a known proxy reports, else the peer of the connection.
 * Addresses of one IPv6 network (/64) count as one, since a client usually controls all of them. `proxies` are addresses
 * and networks such as `10.0.0.0/8`. */
export function addressReader(proxies: readonly string[]): (headers: Headers, remote: string) => string {
  const known = new BlockList();
  for (const proxy of proxies) {
    const [address = "", prefix] = proxy.split("/");
    const family = isIPv6(address) ? "ipv6" : "ipv4";
    if (prefix === undefined) known.addAddress(address, family);
    else known.addSubnet(address, Number(prefix), family);
  }
  return (headers, remote) => {
    const forwarded = (headers.get("x-forwarded-for") ?? "").split(",").map((one) => plain(one.trim()));
    let address = plain(remote);
    // Starts with the nearest: anything before the first unknown address may be forged.
    for (const before of forwarded.toReversed()) {
      if (!isIn(known, address) || !/^[0-9a-f.:]{2,45}$/.test(before)) break;
      address = before;
    }
    return address.includes(":") ? network(address) : address;
  };
}

function isIn(list: BlockList, address: string): boolean {
  const version = isIP(address);
  return version !== 0 && list.check(address, version === 6 ? "ipv6" : "ipv4");
}

function plain(address: string): string {
  return address.toLowerCase().replace(/^\[(.*)\]$/, "$1").replace(/^::ffff:(?=\d+\.)/, "");
}

function network(address: string): string {
  const [head = "", tail = ""] = address.split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === "" ? [] : tail.split(":");
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => "0");
  return `${[...before, ...zeros, ...after].slice(0, 4).join(":")}::/64`;
}
