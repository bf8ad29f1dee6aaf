import { join } from "node:path";
import type { EnvironmentView } from "../../../src/extension/mod.ts";
import { ProcessWall } from "../../../src/processes/process_wall.ts";

const linux = Deno.build.os === "linux";
const hasGit = linux && await Deno.stat("/usr/bin/git").then(() => true, () => false);
export const missing = !linux ? "needs Linux" : !hasGit ? "needs git" : "";

/** A repository of a test, and the git of its user, which obeys it. */
export interface TestRepository {
  readonly root: string;
  readonly workspace: string;
  readonly env: EnvironmentView;
  /** Runs the same programs without the wall. */
  readonly bare: EnvironmentView;
  /** As the user would run it, unconfined; its output. */
  git(...args: string[]): Promise<string>;
  write(path: string, text: string, options?: { readonly mode?: number }): Promise<void>;
  exists(path: string): boolean;
}

/** Of one call of the user's git: some attacks hang it. */
const TIMEOUT_MS = 30_000;
const IDENTITY = { name: "Ada", email: "ada@example.org" };

/** `begun`: with one commit of `a.txt`. */
export async function repository(
  test: (repository: TestRepository) => Promise<void>,
  { begun = true, config = IDENTITY }: { readonly begun?: boolean; readonly config?: unknown } = {},
): Promise<void> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "vis-git-test-" }));
  const workspace = join(root, "workspace");
  for (const name of ["workspace", "home", "outside", "temporary"]) await Deno.mkdir(join(root, name));
  const wall = new ProcessWall({
    private: { home: join(root, "home"), visHome: join(root, "home/.vis") },
    read: [],
    network: false,
    env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
    temporary: join(root, "temporary"),
  });
  const there: TestRepository = {
    root,
    workspace,
    env: viewOf(wall, { workspace, config }),
    bare: { ...viewOf(wall, { workspace, config }), spawn: unconfined(workspace) },
    git: (...args) => userGit(args, { root, cwd: workspace }),
    write: async (path, text, options) => {
      const at = join(workspace, path);
      await Deno.mkdir(join(at, ".."), { recursive: true });
      await Deno.writeTextFile(at, text, options);
    },
    exists: (path) => {
      try {
        Deno.lstatSync(join(root, path));
        return true;
      } catch {
        return false;
      }
    },
  };
  try {
    await there.git("init", "-q", "-b", "main");
    if (begun) {
      await there.write("a.txt", "one\ntwo\nthree\n");
      await there.git("add", ".");
      await there.git("commit", "-q", "-m", "first");
    }
    await test(there);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

export function viewOf(
  wall: ProcessWall,
  { workspace, config = IDENTITY }: { readonly workspace: string; readonly config?: unknown },
): EnvironmentView {
  return {
    envId: "e",
    conversationId: "c",
    branchId: "b",
    depth: 0,
    workspace,
    config,
    spawn: (argv, options = {}) => wall.spawn(workspace, argv, options),
  };
}

/** `env.spawn` without a wall, so that what git does by itself can be seen. */
function unconfined(workspace: string): NonNullable<EnvironmentView["spawn"]> {
  return async ([program = "", ...args], { env = {}, input, onOutput } = {}) => {
    const child = new Deno.Command(program, {
      args,
      cwd: workspace,
      clearEnv: true,
      env: { PATH: "/usr/bin:/bin", HOME: "/nowhere", ...env },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(typeof input === "string" ? input : "")).catch(() => {});
    await writer.close().catch(() => {});
    const { code, stdout, stderr } = await child.output();
    onOutput?.("stdout", new Uint8Array(stdout));
    const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
    const rest = { signal: null, ms: 1, timedOut: false, truncated: false, notes: [] };
    return { code, stdout: text(stdout), stderr: text(stderr), ...rest };
  };
}

export async function userGit(
  args: readonly string[],
  { root, cwd }: { readonly root: string; readonly cwd: string },
): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command("/usr/bin/git", {
    args: [...args],
    cwd,
    stdin: "null",
    signal: AbortSignal.timeout(TIMEOUT_MS),
    clearEnv: true,
    env: {
      HOME: join(root, "home"),
      PATH: "/usr/bin:/bin",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_AUTHOR_NAME: "Grace",
      GIT_AUTHOR_EMAIL: "grace@example.org",
      GIT_COMMITTER_NAME: "Grace",
      GIT_COMMITTER_EMAIL: "grace@example.org",
      GIT_AUTHOR_DATE: "2026-01-02T03:04:05Z",
      GIT_COMMITTER_DATE: "2026-01-02T03:04:05Z",
      GIT_ALLOW_PROTOCOL: "file:http:ssh:ext",
    },
  }).output();
  if (code !== 0) throw new Error(`git ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout);
}
