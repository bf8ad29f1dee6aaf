import type { Libc } from "../confine/libc.ts";
import type { OwnNamespaces } from "./exec_policy.ts";

const AT_FDCWD = BigInt.asUintN(64, -100n);
const AF_INET = 2n, SOCK_DGRAM_CLOEXEC = 0o2000002n;
const SIOCSIFFLAGS = 0x8914n, IFF_UP = 1, IFF_RUNNING = 0x40;
/** struct ifreq: the name of an interface, and its flags behind it. */
const IFREQ_BYTES = 40, FLAGS_AT = 16;
const MAX_LINK = 64;

/** Makes sure that the launcher left the machine's network, and starts the loopback of its own. Returns what is wrong,
 * "" if nothing is. */
export function networkFault(
  libc: Libc,
  { outside, startLoopback }: Pick<OwnNamespaces, "outside" | "startLoopback">,
): string {
  if (outside === null) return "";
  const own = networkName(libc);
  if (own === "" || own === outside) return "Cannot make a private network: it would be the machine's own";
  if (!startLoopback || loopbackStarted(libc)) return "";
  return `Cannot make a private network: start its loopback: errno ${libc.errno()}`;
}

function networkName(libc: Libc): string {
  const path = new TextEncoder().encode("/proc/thread-self/ns/net\0");
  const into = new Uint8Array(MAX_LINK);
  const length = libc.call("readlinkat", [AT_FDCWD, libc.address(path), libc.address(into), BigInt(MAX_LINK)]);
  return length < 0 ? "" : new TextDecoder().decode(into.subarray(0, length));
}

function loopbackStarted(libc: Libc): boolean {
  const descriptor = libc.call("socket", [AF_INET, SOCK_DGRAM_CLOEXEC, 0n]);
  if (descriptor < 0) return false;
  const request = new Uint8Array(IFREQ_BYTES);
  request.set(new TextEncoder().encode("lo"));
  new DataView(request.buffer).setUint16(FLAGS_AT, IFF_UP | IFF_RUNNING, true);
  const result = libc.call("ioctl", [BigInt(descriptor), SIOCSIFFLAGS, libc.address(request)]);
  libc.closeDescriptor(descriptor);
  return result === 0;
}
