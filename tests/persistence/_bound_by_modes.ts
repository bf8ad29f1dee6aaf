/** Returns the words before a command that make file modes bind it as they bind a normal user. For root, they drop the
 * capability. Null if this machine has no such words. */
export async function boundByModes(): Promise<readonly string[] | null> {
  if (Deno.build.os === "windows") return null;
  if (Deno.uid() !== 0) return [];
  const prefix = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"];
  const tried = new Deno.Command("setpriv", { args: [...prefix.slice(1), "true"], stdin: "null", stderr: "null" });
  const able = await Promise.try(() => tried.output()).then(({ success }) => success, () => false);
  return able ? prefix : null;
}
