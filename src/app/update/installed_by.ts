/** The package manager that an executable belongs to, by its path, and how it is updated there. */
export function installedBy(
  path: string,
  { container }: { readonly container: boolean },
): { readonly by: string; readonly how: string } | null {
  if (/[\\/]node_modules[\\/]/.test(path)) return { by: "npm", how: "npm install --global vis-agent@latest" };
  if (/\/(?:Cellar|linuxbrew)\//.test(path)) return { by: "Homebrew", how: "brew upgrade vis-agent" };
  if (path === "/usr/bin/vis") return { by: "a package", how: "sudo apt install ./vis-agent_VERSION_ARCHITECTURE.deb" };
  if (container && path === "/usr/local/bin/vis") {
    return { by: "a container image", how: "build the image from the new archive, and start it again" };
  }
  return null;
}
