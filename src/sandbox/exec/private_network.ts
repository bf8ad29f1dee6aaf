import type { Libc } from "../confine/libc.ts";
import type { PrivateNetwork } from "./exec_policy.ts";

const AT_FDCWD = BigInt.asUintN(64, -100n), CLONE_NEWNET = 0x40000000n;
const AF_INET = 2n, SOCK_DGRAM_CLOEXEC = 0o2000002n;
const SIOCSIFFLAGS = 0x8914n, IFF_UP = 1, IFF_RUNNING = 0x40;
/** struct ifreq: the name of an interface, and its flags behind it. */
const IFREQ_BYTES = 40, FLAGS_AT = 16;
const MAX_LINK = 64;

/** Puts this thread into a network of its own, whose only interface is a loopback, or into that of another program.
 * Returns what failed, "" if nothing did. Never leaves it in the machine's network. */
export function enterPrivateNetwork(
  libc: Libc,
  { outside, to }: Pick<PrivateNetwork, "outside" | "to">,
): string {
  const fault = enter(libc, to);
  if (fault !== "") return `Cannot make a private network: ${fault}: errno ${libc.errno()}`;
  const own = networkName(libc);
  return own === "" || own === outside ? "Cannot make a private network: it would be the machine's own" : "";
}

function enter(libc: Libc, to: PrivateNetwork["to"]): string {
  switch (to) {
    case "make":
      if (libc.call("unshare", [CLONE_NEWNET]) < 0) return "unshare";
      return startLoopback(libc) ? "" : "start its loopback";
    case "start":
      return startLoopback(libc) ? "" : "start its loopback";
    case "nothing":
      return "";
    default: {
      const descriptor = libc.open(`/proc/${to.join}/ns/net`);
      if (descriptor < 0) return "open that of another program";
      const joined = libc.call("setns", [BigInt(descriptor), CLONE_NEWNET]);
      libc.closeDescriptor(descriptor);
      return joined < 0 ? "join that of another program" : "";
    }
  }
}

function networkName(libc: Libc): string {
  const path = new TextEncoder().encode("/proc/thread-self/ns/net\0");
  const into = new Uint8Array(MAX_LINK);
  const length = libc.call("readlinkat", [AT_FDCWD, libc.address(path), libc.address(into), BigInt(MAX_LINK)]);
  return length < 0 ? "" : new TextDecoder().decode(into.subarray(0, length));
}

function startLoopback(libc: Libc): boolean {
  const descriptor = libc.call("socket", [AF_INET, SOCK_DGRAM_CLOEXEC, 0n]);
  if (descriptor < 0) return false;
  const request = new Uint8Array(IFREQ_BYTES);
  request.set(new TextEncoder().encode("lo"));
  new DataView(request.buffer).setUint16(FLAGS_AT, IFF_UP | IFF_RUNNING, true);
  const result = libc.call("ioctl", [BigInt(descriptor), SIOCSIFFLAGS, libc.address(request)]);
  libc.closeDescriptor(descriptor);
  return result === 0;
}
