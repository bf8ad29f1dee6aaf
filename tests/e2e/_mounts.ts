/** A shell that may mount for itself alone, in front of what it runs: as root, or as root of a user namespace. Null
 * where neither can be had. */
export const mounter: string | null = await usable("unshare -m")
  ? "unshare -m"
  : await usable("unshare -rm")
  ? "unshare -rm"
  : null;

/** What stands behind the name of a test that cannot run here. */
export const noMounts = mounter === null ? " (skipped: nothing can be mounted here, run it as root)" : "";

async function usable(command: string): Promise<boolean> {
  const args = ["-c", `${command} sh -c 'mount -t tmpfs none /mnt'`];
  return await new Deno.Command("sh", { args, stdout: "null", stderr: "null" }).output()
    .then(({ success }) => success, () => false);
}

/** A shell line for `StartOptions.shell`: `before` and then the program, in a namespace of its own. */
export function mounting(before: string): string {
  return `${mounter} sh -c '${before}' sh "$@"`;
}
