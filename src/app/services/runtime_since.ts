/** Whether a version of Deno is this one or a later one. */
export function runtimeSince([major, minor]: readonly [number, number], version: string = Deno.version.deno): boolean {
  const [ownMajor = 0, ownMinor = 0] = version.split(".").map(Number);
  return ownMajor > major || (ownMajor === major && ownMinor >= minor);
}
