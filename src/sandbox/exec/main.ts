/** Entry point of the process that confines itself and becomes another program. */
import { installFilter } from "../confine/install_filter.ts";
import { landlock } from "../confine/landlock.ts";
import { Libc } from "../confine/libc.ts";
import { becomeProgram } from "./become_program.ts";
import { dropPrivileges } from "./drop_privileges.ts";
import { EXEC_ARGUMENT, EXEC_FAILED, EXEC_NO_MOUNTS, EXEC_NO_NETWORK, type ExecPolicy } from "./exec_policy.ts";
import { execRules } from "./exec_rules.ts";
import { enterPrivateMounts } from "./private_mounts.ts";
import { enterPrivateNetwork } from "./private_network.ts";
import { refusedCalls } from "./refused_calls.ts";

/** Never returns. Becomes the program only if every wall is in place; otherwise the reason is on stderr, after the
 * token. */
export function execMain(args: readonly string[]): never {
  const [text = "{}", ...argv] = args[0] === EXEC_ARGUMENT ? args.slice(1) : args;
  // Written by the main process of the same build.
  const policy = JSON.parse(text) as ExecPolicy;
  const leave = (reason: string, code: number): never => {
    Deno.stderr.writeSync(new TextEncoder().encode(`${policy.token} ${reason}\n`));
    Deno.exit(code);
  };
  try {
    const libc = new Libc();
    const { network } = policy;
    const noNetwork = network.kind === "private" ? enterPrivateNetwork(libc, network) : "";
    if (noNetwork !== "") return leave(noNetwork, EXEC_NO_NETWORK);
    const links = network.kind === "none" ? null : network.mounts;
    const noMounts = links === null ? "" : enterPrivateMounts(libc, { paths: policy, links });
    if (noMounts !== "") return leave(noMounts, EXEC_NO_MOUNTS);
    return leave(confineAndRun(libc, { policy, argv }), EXEC_FAILED);
  } catch (error) {
    return leave(error instanceof Error ? error.message : String(error), EXEC_FAILED);
  }
}

/** Returns why it failed. Only this thread continues in the program, so it is enough that each step covers it. */
function confineAndRun(
  libc: Libc,
  { policy, argv }: { readonly policy: ExecPolicy; readonly argv: readonly string[] },
): string {
  const privileges = dropPrivileges(libc, policy);
  if (privileges.length > 0) return `Cannot confine a program: ${privileges.join("; ")}`;
  const wall = landlock(libc, (abi) => execRules(abi, policy));
  if (wall.abi === 0) return `Cannot confine a program: ${wall.failed.join("; ")}`;
  const { network, env } = policy;
  const filter = installFilter(libc, refusedCalls({ network, abi: wall.abi }), { everyThread: false });
  if (filter.length > 0) return `Cannot confine a program: ${filter.join("; ")}`;
  return becomeProgram(libc, { argv, env });
}

if (import.meta.main) execMain(Deno.args);
