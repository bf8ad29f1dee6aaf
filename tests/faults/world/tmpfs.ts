export class Tmpfs implements AsyncDisposable {
  protected constructor(readonly path: string) {}

  static async mount(path: string, options: string): Promise<Tmpfs> {
    await Deno.mkdir(path, { recursive: true });
    await command("mount", ["-t", "tmpfs", "-o", options, "tmpfs", path]);
    return new Tmpfs(path);
  }

  async remount(options: string): Promise<void> {
    await command("mount", ["-o", `remount,${options}`, this.path]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await command("umount", ["-l", this.path]);
  }

  /** Returns the reason why none can be mounted here; empty if one can. */
  static async missing(): Promise<string> {
    const path = await Deno.makeTempDir({ prefix: "vis-tmpfs-" });
    try {
      await using _mounted = await Tmpfs.mount(path, "size=64k");
      return "";
    } catch {
      return `mounting takes root: unshare --map-root-user --mount bin/deno task faults`;
    } finally {
      await Deno.remove(path);
    }
  }
}

async function command(name: string, args: readonly string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(name, { args: [...args], stdin: "null" }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}
