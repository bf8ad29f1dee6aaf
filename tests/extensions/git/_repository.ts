import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { EnvironmentView } from "../../../src/extension/mod.ts";
import { LinuxWall } from "../../../src/processes/linux/linux_wall.ts";

const linux = Deno.build.os === "linux";
const hasGit = linux && await Deno.stat("/usr/bin/git").then(() => true, () => false);
export const missing = !linux ? "needs Linux" : !hasGit ? "needs git" : "";

let packages = "";

/** Test files of other isolates share the variables of this process, so one test at a time changes them, and programs
 * of other tests still find the cache of packages. */
export async function withHome(home: string, test: () => Promise<void>): Promise<void> {
  if (packages === "") {
    const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"] }).output();
    packages = JSON.parse(new TextDecoder().decode(stdout)).denoDir;
  }
  using turn = await Deno.open(join(tmpdir(), `vis-home-of-tests-${Deno.uid()}`), { create: true, write: true });
  await turn.lock(true);
  const before = ["HOME", "DENO_DIR"].map((name) => [name, Deno.env.get(name)] as const);
  Deno.env.set("DENO_DIR", packages);
  Deno.env.set("HOME", home);
  try {
    await test();
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) Deno.env.delete(name);
      else Deno.env.set(name, value);
    }
  }
}

/** A repository of a test, and the git of its user, which obeys it. */
export interface TestRepository {
  readonly root: string;
  readonly workspace: string;
  readonly commonDir: string;
  readonly env: EnvironmentView;
  readonly bare: EnvironmentView;
  /** Runs git as the user would, unconfined. Returns its output. */
  git(...args: string[]): Promise<string>;
  write(path: string, text: string, options?: { readonly mode?: number }): Promise<void>;
  exists(path: string): boolean;
}

/** Some attacks hang a call of the user's git. */
const TIMEOUT_MS = 30_000;
const IDENTITY = { name: "Ada", email: "ada@example.org" };

/** The places in which the user starts Vis. A folder is inside a repository, and there the user approves each
 * question. */
export const STARTS = ["top", "folder", "folder of a linked worktree", "folder of a submodule"] as const;

/** With `begun`, the repository has one commit of `a.txt`. */
export async function repository(
  test: (repository: TestRepository) => Promise<void>,
  { begun = true, config = IDENTITY, start = "top" }: {
    readonly begun?: boolean;
    readonly config?: unknown;
    readonly start?: typeof STARTS[number];
  } = {},
): Promise<void> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "vis-git-test-" }));
  const workspace = join(root, "workspace");
  for (const name of ["home", "outside", "temporary"]) await Deno.mkdir(join(root, name));
  await makeTop({ root, workspace, start });
  const folder = start === "top" ? workspace : join(workspace, "started/here");
  await Deno.mkdir(folder, { recursive: true });
  const common = await userGit(["rev-parse", "--git-common-dir"], { root, cwd: workspace });
  const wall = new LinuxWall({
    home: join(root, "home"),
    visHome: join(root, "home/.vis"),
    read: [],
    network: false,
    env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
    temporary: join(root, "temporary"),
  });
  const there: TestRepository = {
    root,
    workspace,
    commonDir: resolve(workspace, common.trim()),
    env: viewOf(wall, { workspace: folder, root: workspace, config }),
    bare: { ...viewOf(wall, { workspace: folder, root: workspace, config }), spawn: unconfined(workspace) },
    git: (...args) => userGit(args, { root, cwd: workspace }),
    write: async (path, text, options) => {
      const at = resolve(workspace, path);
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
    if (begun) {
      await there.write("a.txt", "one\ntwo\nthree\n");
      await there.git("add", ".");
      await there.git("commit", "-q", "-m", "first");
    }
    await test(there);
  } finally {
    await removed(root);
  }
}

/** Git may still write a file of its maintenance while the folder is removed. */
async function removed(root: string): Promise<void> {
  for (let left = 5;; left--) {
    try {
      return await Deno.remove(root, { recursive: true });
    } catch (error) {
      if (left === 0 || !(error instanceof Error && "code" in error && error.code === "ENOTEMPTY")) throw error;
    }
  }
}

async function makeTop(
  { root, workspace, start }: Pick<TestRepository, "root" | "workspace"> & { readonly start: typeof STARTS[number] },
): Promise<void> {
  const git = (...args: string[]) => userGit(args, { root, cwd: root });
  if (start === "folder of a linked worktree") {
    await git("init", "-q", "-b", "first", "main");
    await git("-C", "main", "commit", "-q", "--allow-empty", "-m", "empty");
    await git("-C", "main", "worktree", "add", "-q", "-b", "main", workspace);
  } else if (start === "folder of a submodule") {
    await git("init", "-q", "-b", "main", "other");
    await git("-C", "other", "commit", "-q", "--allow-empty", "-m", "empty");
    await git("init", "-q", ".");
    await git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", join(root, "other"), "workspace");
  } else await git("init", "-q", "-b", "main", "workspace");
}

export function viewOf(
  wall: LinuxWall,
  { workspace, root = workspace, config = IDENTITY }: {
    readonly workspace: string;
    readonly root?: string;
    readonly config?: unknown;
  },
): EnvironmentView {
  const inside = {
    root,
    approve: () => Promise.resolve({ allowed: true as const, reason: "" }),
  };
  return {
    envId: "e",
    conversationId: "c",
    branchId: "b",
    depth: 0,
    workspace,
    config,
    spawn: (argv, options = {}) => wall.spawn(workspace, argv, { ...options, root }),
    ...(root === workspace ? {} : inside),
  };
}

/** Returns `env.spawn` without a wall, to show the effect of git alone. */
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
