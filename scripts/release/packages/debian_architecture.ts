const ARCHITECTURES: Readonly<Record<string, string>> = {
  "x86_64-unknown-linux-gnu": "amd64",
  "aarch64-unknown-linux-gnu": "arm64",
};

export function debianArchitecture(target: string): string | null {
  return ARCHITECTURES[target] ?? null;
}
