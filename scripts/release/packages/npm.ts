import { type ArchiveOptions, type TarEntry, tarOf } from "../tar.ts";

const NAME = "vis-agent";

const PLATFORMS: Readonly<Record<string, { readonly os: string; readonly cpu: string; readonly libc?: string }>> = {
  "x86_64-unknown-linux-gnu": { os: "linux", cpu: "x64", libc: "glibc" },
  "aarch64-unknown-linux-gnu": { os: "linux", cpu: "arm64", libc: "glibc" },
  "x86_64-apple-darwin": { os: "darwin", cpu: "x64" },
  "aarch64-apple-darwin": { os: "darwin", cpu: "arm64" },
  "x86_64-pc-windows-msvc": { os: "win32", cpu: "x64" },
};

export interface NpmParts extends ArchiveOptions {
  readonly version: string;
  readonly programs: readonly { readonly target: string; readonly program: Uint8Array }[];
  readonly docs: Readonly<Record<string, Uint8Array>>;
  readonly launcher: string;
}

export function npmPackages(
  { version, programs, docs, launcher, ...archive }: NpmParts,
): ReadonlyMap<string, Uint8Array> {
  const found = new Map<string, Uint8Array>();
  const add = (name: string, manifest: object, files: readonly TarEntry[]): void => {
    const about = { name, version, description: "Vis, an agent in one executable", license: "Apache-2.0", ...manifest };
    const own = [
      plain("package.json", new TextEncoder().encode(`${JSON.stringify(about, null, 2)}\n`)),
      ...Object.entries(docs).map(([file, bytes]) => plain(file, bytes)),
      ...files,
    ];
    found.set(`${name}-${version}.tgz`, tarOf(own.map((one) => ({ ...one, name: `package/${one.name}` })), archive));
  };
  const optional: Record<string, string> = {};
  for (const { target, program } of programs) {
    const platform = PLATFORMS[target];
    if (platform === undefined) {
      throw new Error(`Cannot make an npm package for ${target}: npm has no name for this target`);
    }
    const { os, cpu, libc } = platform;
    const name = `${NAME}-${os}-${cpu}`;
    optional[name] = version;
    const file = os === "win32" ? "vis.exe" : "vis";
    const manifest = { os: [os], cpu: [cpu], ...libc ? { libc: [libc] } : {}, preferUnplugged: true };
    add(name, manifest, [{ name: file, bytes: program, executable: true }]);
  }
  const main = { bin: { vis: "bin/vis.js" }, optionalDependencies: optional, engines: { node: ">=18" } };
  add(NAME, main, [{ name: "bin/vis.js", bytes: new TextEncoder().encode(launcher), executable: true }]);
  return found;
}

function plain(name: string, bytes: Uint8Array): TarEntry {
  return { name, bytes, executable: false };
}
