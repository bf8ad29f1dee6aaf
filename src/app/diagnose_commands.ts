import type { CheckResult } from "../channels/channel.ts";
import { ProcessWall } from "../processes/process_wall.ts";
import type { Environment, Settings } from "./settings.ts";

type Run = (argv: readonly string[]) => ReturnType<ProcessWall["spawn"]>;

const TIMEOUT_MS = 10_000;
/** Below it, names of filters in a repository's settings cannot be overridden. */
const GIT_MAJOR = 2, GIT_MINOR = 31;

/** Whether programs run behind their wall, and git is among them. `signal` ends what runs; nothing of it is left. */
export async function diagnoseCommands(
  { config: { shell }, home }: Pick<Settings, "config" | "home">,
  { env, signal }: { readonly env: Environment; readonly signal?: AbortSignal | undefined },
): Promise<readonly CheckResult[]> {
  const workspace = await Deno.realPath(await Deno.makeTempDir({ prefix: "vis-doctor-" }));
  const folders = { home: env["HOME"] || null, visHome: home };
  // Beside other walls: a server that looks at itself runs programs meanwhile.
  const wall = new ProcessWall({ private: folders, read: shell.read, network: false, env, shared: true });
  const run: Run = (argv) => wall.spawn(workspace, argv, { timeoutMs: TIMEOUT_MS, ...(signal ? { signal } : {}) });
  try {
    const { code, signal } = await run(["/bin/sh", "-c", "exit 0"]);
    if (code !== 0) throw new Error(`Cannot run commands: /bin/sh ended with ${signal ?? code}`);
    return [{ name: "commands", state: "ok", found: foundOf(shell), mend: "" }, await checkGit(run)];
  } catch (error) {
    const mend = "shell, git and mcp run nothing before this is mended, since nothing runs without the wall";
    const found = error instanceof Error ? error.message : String(error);
    return [{ name: "commands", state: shell.enabled ? "fail" : "warn", found, mend }];
  } finally {
    await Deno.remove(workspace, { recursive: true });
  }
}

function foundOf({ enabled, network, allow, deny }: Settings["config"]["shell"]): string {
  const rules = allow.length + deny.length > 0 ? `, rules: ${allow.length} allow, ${deny.length} deny` : "";
  const use = enabled ? `shell is on, network ${network ? "TCP to anywhere" : "off"}${rules}` : "shell is off";
  return `run behind their wall; ${use}`;
}

async function checkGit(run: Run): Promise<CheckResult> {
  const name = "git";
  const without = "without it the extension git is inactive";
  try {
    const { stdout } = await run(["git", "--version"]);
    const found = stdout.trim();
    const [, major, minor] = /(\d+)\.(\d+)/.exec(found) ?? [];
    const old = Number(major) < GIT_MAJOR || Number(major) === GIT_MAJOR && Number(minor) < GIT_MINOR;
    if (!old) return { name, state: "ok", found, mend: "" };
    const mend = `Install git ${GIT_MAJOR}.${GIT_MINOR} or later: repositories whose settings name filters are refused`;
    return { name, state: "warn", found, mend };
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error);
    return { name, state: "warn", found, mend: `Install git, or add its folder to shell.read: ${without}` };
  }
}
