import { join } from "node:path";

const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const IMAGE = "vis-libraries";
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

/** Podman with images and containers in a folder of its own. */
export interface Podman extends AsyncDisposable {
  /** Starts each sandbox of the program in a container without a network, rights or a file system that can be written. */
  readonly launcher: readonly string[];
  /** Its processes outside of containers, below which those inside are. */
  processes(): readonly number[];
  /** The ids of its containers. */
  ids(): Promise<readonly string[]>;
}

/** Podman ready to run `program`, or a sentence that says why containers cannot be had. */
export async function podman(program: string): Promise<Podman | string> {
  const folder = await Deno.makeTempDir({ prefix: "vis-podman-" });
  const base = ["/usr/bin/env", `PATH=${PATH}`, "HOME=/root", "podman"];
  const own = [`--root=${join(folder, "root")}`, `--runroot=${join(folder, "run")}`, "--storage-driver=vfs"];
  const remove = async (): Promise<void> => {
    await ended(folder);
    await Deno.remove(folder, { recursive: true });
  };
  let why = "";
  for (const runtime of ["crun", "runc"]) {
    const command = [...base, ...own, `--runtime=${runtime}`];
    try {
      await importLibraries({ folder, program, command });
      await output([...command, "run", "--rm", ...LIMITS, `--volume=${program}:/vis:ro`, IMAGE, "/vis", "version"]);
      const ids = async () => (await output([...command, "ps", "--all", "--quiet"])).split("\n").filter(Boolean);
      const options = ["--rm", "--interactive", ...ISOLATED, ...LIMITS, `--volume=${program}:${program}:ro`];
      return {
        launcher: [...command, "run", ...options, IMAGE],
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

/** Waits until no process of Podman names the folder: one that cleans a container up outlives it. */
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
      return false; // it has ended
    }
  });
}

async function importLibraries({ folder, program, command }: {
  readonly folder: string;
  readonly program: string;
  readonly command: readonly string[];
}): Promise<void> {
  const libraries = (await output(["ldd", program])).match(/\/\S+/g) ?? [];
  const archive = join(folder, "libraries.tar");
  await output(["tar", "--create", "--dereference", `--file=${archive}`, ...libraries]);
  await output([...command, "import", archive, IMAGE]);
}
