const ARCHITECTURES: Readonly<Record<string, string>> = {
  "x86_64-unknown-linux-gnu": "amd64",
  "aarch64-unknown-linux-gnu": "arm64",
};

/** Returns Debian's name for the processor of a target, which images use too; null if Debian does not run on the
 * target. */
export function debianArchitecture(target: string): string | null {
  return ARCHITECTURES[target] ?? null;
}
