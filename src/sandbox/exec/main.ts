/** Entry point of the process that confines itself and becomes the first process around another program. */
import { installFilter } from "../confine/install_filter.ts";
import { landlock } from "../confine/landlock.ts";
import { Libc } from "../confine/libc.ts";
import { becomeInit } from "./become_init.ts";
import { dropPrivileges } from "./drop_privileges.ts";
import { type ExecPolicy, type OwnNamespaces, SAID } from "./exec_policy.ts";
import { execRules } from "./exec_rules.ts";
import { enterPrivateMounts } from "./private_mounts.ts";
import { networkFault } from "./private_network.ts";
import { refusedCalls } from "./refused_calls.ts";

const LENGTH_BYTES = 4;

/** Never returns. The program starts only if every wall is in place; otherwise the reason is on stderr, after the
 * token. */
export function execMain(): never {
  // Written by the main process of the same build.
  const policy = JSON.parse(new TextDecoder().decode(readPolicy())) as ExecPolicy;
  const leave = (kind: string, reason: string): never => {
    Deno.stderr.writeSync(new TextEncoder().encode(`${policy.token} ${kind} ${reason.replaceAll("\n", " ")}\n`));
    Deno.exit(1);
  };
  try {
    const libc = new Libc();
    const { namespaces } = policy;
    const fault = namespaces === null ? "" : enterNamespaces(libc, policy, namespaces);
    if (fault !== "") return leave(SAID.noNamespaces, fault);
    return leave(SAID.failed, confineAndRun(libc, policy));
  } catch (error) {
    return leave(SAID.failed, error instanceof Error ? error.message : String(error));
  }
}

/** The policy comes first on stdin, behind its length; what follows is the program's. */
function readPolicy(): Uint8Array<ArrayBuffer> {
  const length = readExactly(LENGTH_BYTES);
  return readExactly(new DataView(length.buffer).getUint32(0, true));
}

function readExactly(length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length;) {
    const count = Deno.stdin.readSync(bytes.subarray(at));
    if (count === null) Deno.exit(1); // Vis has ended
    at += count;
  }
  return bytes;
}

function enterNamespaces(libc: Libc, policy: ExecPolicy, namespaces: OwnNamespaces): string {
  return networkFault(libc, namespaces) || enterPrivateMounts(libc, { paths: policy, namespaces });
}

/** Returns why it failed. Only this thread continues, so it is enough that each step covers it. */
function confineAndRun(libc: Libc, policy: ExecPolicy): string {
  const { network, namespaces } = policy;
  const privileges = dropPrivileges(libc, policy.limits);
  if (privileges.length > 0) return `Cannot confine a program: ${privileges.join("; ")}`;
  const wall = landlock(libc, (abi) => execRules(abi, policy));
  if (wall.abi === 0) return `Cannot confine a program: ${wall.failed.join("; ")}`;
  const calls = refusedCalls({ network, own: namespaces !== null, abi: wall.abi });
  const filter = installFilter(libc, calls, { everyThread: false });
  if (filter.length > 0) return `Cannot confine a program: ${filter.join("; ")}`;
  return becomeInit(libc, policy);
}

if (import.meta.main) execMain();
