import { join } from "node:path";

const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const ISOLATED = [
  ...["--network=none", "--read-only", "--tmpfs=/tmp", "--cap-drop=all", "--user=65532:65532"],
  "--security-opt=no-new-privileges",
];
const LIMITS = ["--ulimit=nofile=8192:8192", "--ulimit=nproc=1000:1000"];

async function output(args: readonly string[], options: Deno.CommandOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command(args[0] ?? "", {
    args: args.slice(1),
    clearEnv: true,
    env: { PATH, HOME: "/root" },
    stdin: "null",
    ...options,
  }).output();
  if (code !== 0) throw new Error(new TextDecoder().decode(stderr).trim());
  return new TextDecoder().decode(stdout).trim();
}

export interface Podman extends AsyncDisposable {
  /** Starts each sandbox in a container without a network, rights or a writable file system. */
  readonly launcher: readonly string[];
  readonly isolated: readonly string[];
  ran(args: readonly string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }>;
  /** Returns its processes outside of containers. The processes inside are below them. */
  processes(): readonly number[];
  ids(): Promise<readonly string[]>;
}

export interface Image {
  readonly name: string;
  load(command: readonly string[], folder: string): Promise<unknown>;
  /** The arguments of `podman run` before the image, and the arguments after it that print the version of the
   * program. */
  readonly mounts: readonly string[];
  readonly version: readonly string[];
}

/** Makes an image that contains only the libraries of the executable. */
export function librariesOf(program: string): Image {
  const name = "vis-libraries";
  return {
    name,
    load: async (command, folder) => {
      const libraries = (await output(["ldd", program])).match(/\/\S+/g) ?? [];
      const archive = join(folder, "libraries.tar");
      await output(["tar", "--create", "--dereference", `--file=${archive}`, ...libraries]);
      await output([...command, "import", archive, name]);
    },
    mounts: [`--volume=${program}:${program}:ro`],
    version: [program, "version"],
  };
}

export function loaded(archive: string, name: string): Image {
  return {
    name,
    load: (command) => output([...command, "load", `--input=${archive}`]),
    mounts: [],
    version: ["version"],
  };
}

/** Returns Podman with an image, or the reason why containers cannot run. */
export async function podman(image: Image): Promise<Podman | string> {
  const folder = await Deno.makeTempDir({ prefix: "vis-podman-" });
  // Podman's timers for health checks need systemd.
  const base = ["/usr/bin/env", `PATH=${PATH}`, "HOME=/root", "DISABLE_HC_SYSTEMD=true", "podman"];
  const own = [`--root=${join(folder, "root")}`, `--runroot=${join(folder, "run")}`, "--storage-driver=vfs"];
  const remove = async (): Promise<void> => {
    await ended(folder);
    await Deno.remove(folder, { recursive: true });
  };
  let why = "";
  for (const runtime of ["crun", "runc"]) {
    const command = [...base, ...own, `--runtime=${runtime}`];
    try {
      await image.load(command, folder);
      await output([...command, "run", "--rm", ...LIMITS, ...image.mounts, image.name, ...image.version]);
      const ids = async () => (await output([...command, "ps", "--all", "--quiet"])).split("\n").filter(Boolean);
      const ran = async (args: readonly string[]) => {
        const [path = "", ...before] = command;
        const { code, stdout, stderr } = await new Deno.Command(path, { args: [...before, ...args] }).output();
        return { code, out: new TextDecoder().decode(stdout), err: new TextDecoder().decode(stderr) };
      };
      const isolated = ["--rm", ...ISOLATED, ...LIMITS, ...image.mounts];
      return {
        launcher: [...command, "run", "--interactive", ...isolated, image.name],
        isolated,
        ran,
        ids,
        processes: () => processesThatName(folder),
        [Symbol.asyncDispose]: remove,
      };
    } catch (error) {
      why = error instanceof Error ? error.message : String(error);
    }
  }
  await remove();
  return `no container runtime: ${why.split("\n")[0]}`;
}

/** Waits until no process of Podman names the folder. The process that removes a container outlives it. */
async function ended(folder: string): Promise<void> {
  const end = performance.now() + 20_000;
  while (performance.now() < end && processesThatName(folder).length > 0) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  for (const pid of processesThatName(folder)) Deno.kill(pid, "SIGKILL");
}

function processesThatName(text: string): readonly number[] {
  return [...Deno.readDirSync("/proc")].map(({ name }) => Number(name)).filter((pid) => {
    try {
      return pid > 0 && pid !== Deno.pid && Deno.readTextFileSync(`/proc/${pid}/cmdline`).includes(text);
    } catch {
      return false; // The process has ended.
    }
  });
}
