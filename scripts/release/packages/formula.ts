/** Homebrew does not support Windows. */
const PLATFORMS: Readonly<Record<string, { readonly os: string; readonly cpu: string }>> = {
  "x86_64-unknown-linux-gnu": { os: "linux", cpu: "intel" },
  "aarch64-unknown-linux-gnu": { os: "linux", cpu: "arm" },
  "x86_64-apple-darwin": { os: "macos", cpu: "intel" },
  "aarch64-apple-darwin": { os: "macos", cpu: "arm" },
};

export interface FormulaParts {
  readonly version: string;
  readonly baseUrl: string;
  readonly archives: readonly { readonly target: string; readonly name: string; readonly sha256: string }[];
}

export function formulaOf({ version, baseUrl, archives }: FormulaParts): string {
  const places = archives.flatMap(({ target, name, sha256 }) => {
    const platform = PLATFORMS[target];
    return platform === undefined ? [] : [`  on_${platform.os} do
    on_${platform.cpu} do
      url "${baseUrl}/${name}"
      sha256 "${sha256}"
    end
  end
`];
  });
  return `class VisAgent < Formula
  desc "Agent that writes and runs TypeScript in a sandbox"
  homepage "${baseUrl}"
  version "${version}"
  license "Apache-2.0"

${places.join("\n")}
  conflicts_with "vis", because: "both install a program named vis"

  def install
    bin.install "vis"
    man1.install "vis.1"
    doc.install "README.md", "CHANGELOG.md", "LICENSE-third-party"
    generate_completions_from_executable(bin/"vis", "completions")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/vis --version")
  end
end
`;
}
