/** The Linux that brought Landlock. */
const LEAST = [5, 13] as const;
const ACTIVE_MODULES = "/sys/kernel/security/lsm";

/** Why this kernel has no Landlock that confines programs, as far as it can be told without trying; null if it should
 * have. The process that becomes a program tries it, and runs nothing without. */
export async function landlockFault(): Promise<string | null> {
  const release = Deno.osRelease();
  const [major = 0, minor = 0] = release.split(".").map((part) => parseInt(part, 10));
  if (major < LEAST[0] || major === LEAST[0] && minor < LEAST[1]) {
    return `which Linux has from ${LEAST.join(".")} on, and this is ${release}`;
  }
  const active = await Deno.readTextFile(ACTIVE_MODULES).catch(() => null); // often not mounted in containers
  return active === null || active.split(",").includes("landlock") ? null : "which this kernel was booted without";
}
