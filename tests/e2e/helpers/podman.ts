import { join } from "node:path";

const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const IMAGE = "vis-libraries";
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
  /** The command before `run`, which needs no environment. */
  readonly command: readonly string[];
  /** Limits that every user may set. */
  readonly limits: readonly string[];
  /** An image of the libraries that an executable needs, and nothing else. */
  readonly image: string;
  /** The ids of its containers. */
  ids(): Promise<readonly string[]>;
}

/** Podman ready to run `program`, or a sentence that says why containers cannot be had. */
export async function podman(program: string): Promise<Podman | string> {
  const folder = await Deno.makeTempDir({ prefix: "vis-podman-" });
  const base = ["/usr/bin/env", `PATH=${PATH}`, "HOME=/root", "podman"];
  const own = [`--root=${join(folder, "root")}`, `--runroot=${join(folder, "run")}`, "--storage-driver=vfs"];
  const remove = () => Deno.remove(folder, { recursive: true });
  let why = "";
  for (const runtime of ["crun", "runc"]) {
    const command = [...base, ...own, `--runtime=${runtime}`];
    try {
      await importLibraries({ folder, program, command });
      await output([...command, "run", "--rm", ...LIMITS, `--volume=${program}:/vis:ro`, IMAGE, "/vis", "version"]);
      const ids = async () => (await output([...command, "ps", "--all", "--quiet"])).split("\n").filter(Boolean);
      return { command, limits: LIMITS, image: IMAGE, ids, [Symbol.asyncDispose]: remove };
    } catch (error) {
      why = error instanceof Error ? error.message : String(error);
    }
  }
  await remove();
  return `no container runtime: ${why.split("\n")[0]}`;
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
