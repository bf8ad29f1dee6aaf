/** The words before a command that let it mount for itself alone. They make it root, or root of a user namespace; null
 * if neither is possible. */
export const mounter: string | null = await usable("unshare -m")
  ? "unshare -m"
  : await usable("unshare -rm")
  ? "unshare -rm"
  : null;

export const noMounts = mounter === null ? " (skipped: nothing can be mounted here, run it as root)" : "";

async function usable(command: string): Promise<boolean> {
  const args = ["-c", `${command} sh -c 'mount -t tmpfs none /mnt'`];
  return await Promise.try(() => new Deno.Command("sh", { args, stdout: "null", stderr: "null" }).output())
    .then(({ success }) => success, () => false);
}

/** Returns a shell line for `StartOptions.shell` that runs `before` and then the program, in a namespace of its own. */
export function mounting(before: string): string {
  return `${mounter} sh -c '${before}' sh "$@"`;
}
