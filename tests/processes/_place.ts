import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { LinuxWall, type LinuxWallOptions } from "../../src/processes/linux/linux_wall.ts";
import { INIT } from "../../src/sandbox/exec/init.ts";
import type { ChildProgram } from "../../src/sandbox/launch.ts";

export const missing = Deno.build.os === "linux" ? "" : "needs Linux";
/** Whether commands can have namespaces of their own: as root with the capability for it, elsewhere if the kernel lets
 * users make theirs. */
export const mayMake = missing === "" && makesNamespaces();
/** Another user, in whose workspace root works, such as in a container; null if root does not run these tests. */
export const OWNER: Owner | null = missing === "" && Deno.uid() === 0 ? { uid: 65534, gid: 65534 } : null;
export const SECRET = "the-secret-of-the-user";

function makesNamespaces(): boolean {
  const args = [...Deno.uid() === 0 ? [] : ["--user"], "--net", "--mount", "true"];
  return new Deno.Command("unshare", { args, stderr: "null" }).outputSync().success;
}

/** Starts programs (init.c) as the end of the command in a script. */
export async function launcherBehind(script: string, folder: string): Promise<ChildProgram> {
  const path = join(folder, "init");
  await Deno.writeFile(path, Uint8Array.fromBase64(INIT[Deno.build.arch]), { mode: 0o755 });
  return { path: "/usr/bin/env", args: ["PATH=/usr/bin:/bin", "/bin/sh", "-c", script, "sh", path] };
}

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

export async function giveTo({ uid, gid }: Owner, folder: string): Promise<void> {
  const { success } = await new Deno.Command("/bin/chown", { args: ["-hR", `${uid}:${gid}`, folder] }).output();
  if (!success) throw new Error(`Cannot give ${folder} to ${uid}`);
}

/** A workspace, a home folder, Vis's own folder, another user's folder and a readable one, next to each other. */
export interface Place {
  readonly root: string;
  readonly workspace: string;
  readonly home: string;
  readonly visHome: string;
  readonly outside: string;
  readonly abstract: string;
  readonly wall: LinuxWall;
  /** An idle process of the same user, with the secret in its environment. */
  readonly victim: Deno.ChildProcess;
  read(path: string): string | null;
}

/** All folders and the idle process belong to `owner`, if given. */
export async function place(
  test: (place: Place) => Promise<void>,
  { owner = null, ...options }: Partial<LinuxWallOptions> & { readonly owner?: Owner | null } = {},
): Promise<void> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "vis-wall-test-" }));
  const at = (name: string): string => join(root, name);
  for (const name of ["workspace/.git/hooks", "workspace/.vis", "home/.vis", "outside", "readable", "temporary"]) {
    await Deno.mkdir(at(name), { recursive: true });
  }
  for (const path of ["home/secret", "home/.vis/secret", "outside/secret", "readable/secret"]) {
    await Deno.writeTextFile(at(path), SECRET);
  }
  await Deno.writeTextFile(at("workspace/.git/config"), "[core]\n\tbare = false\n");
  await Deno.writeTextFile(at("workspace/.git/HEAD"), "ref: refs/heads/main\n");
  await Deno.writeTextFile(at("workspace/.git/hooks/pre-push"), "#!/bin/sh\n", { mode: 0o755 });
  await Deno.writeTextFile(at("workspace/.vis/config.jsonc"), "{}\n");
  await Deno.symlink(at("outside/secret"), at("workspace/link"));
  const victim = new Deno.Command("/bin/sleep", {
    args: ["7200"],
    env: { TOKEN: SECRET },
    stdout: "null",
    ...owner ?? {},
  }).spawn();
  // The service is like those of D-Bus and docker.
  const bus = Deno.listen({ transport: "unix", path: at("outside/bus") });
  if (owner !== null) await giveTo(owner, root);
  const abstract = `vis-test-${crypto.randomUUID()}`;
  const service = createServer((socket) => socket.on("error", () => {}).end()).listen(`\0${abstract}`);
  await once(service, "listening");
  const wall = new LinuxWall({
    home: at("home"),
    visHome: at("home/.vis"),
    read: [at("readable")],
    network: false,
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", TOKEN: SECRET, LD_PRELOAD: "/no/such.so" },
    temporary: at("temporary"),
    ...options,
  });
  const read = (path: string): string | null => {
    try {
      return Deno.readTextFileSync(at(path));
    } catch {
      return null;
    }
  };
  try {
    await test({
      root,
      workspace: at("workspace"),
      home: at("home"),
      visHome: at("home/.vis"),
      outside: at("outside"),
      abstract,
      wall,
      victim,
      read,
    });
  } finally {
    try {
      victim.kill("SIGKILL");
    } catch { /* An attack removed it. */ }
    await victim.status;
    bus.close();
    service.close();
    await Deno.remove(root, { recursive: true });
  }
}
