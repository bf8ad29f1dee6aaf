import { sha256 } from "../sha256.ts";
import { type ArchiveOptions, gzipped, plainTar, type TarEntry, type TarFolder } from "../tar.ts";
import { debianArchitecture } from "./debian_architecture.ts";

const NAME = "vis-agent";
const USER = 65532;
const HOME = "var/lib/vis";
const SECOND = 1e9;

export interface ImageParts extends ArchiveOptions {
  readonly target: string;
  readonly version: string;
  readonly program: Uint8Array;
  readonly licences: Uint8Array;
  readonly system: readonly TarEntry[];
}

/** `docker load` and `podman load` read the format of `docker save`. OCI's format has no health check. */
export function imageOf(parts: ImageParts): { readonly name: string; readonly bytes: Uint8Array } {
  const { version, modifiedAt } = parts;
  const architecture = debianArchitecture(parts.target);
  if (architecture === null) {
    throw new Error(`Cannot make an image for ${parts.target}: only Linux targets have images`);
  }
  const layer = plainTar(rootOf(parts), modifiedAt);
  const created = new Date(modifiedAt).toISOString();
  const config = encoded(JSON.stringify({
    architecture,
    os: "linux",
    created,
    config: settingsOf(version),
    rootfs: { type: "layers", diff_ids: [`sha256:${sha256(layer)}`] },
    history: [{ created, created_by: "deno task release" }],
  }));
  const named = `${sha256(config)}.json`;
  const manifest = [{ Config: named, RepoTags: [`${NAME}:${version}`], Layers: ["layer.tar"] }];
  // Podman 4 loads compressed layers, but no compressed archive.
  const layers = { "layer.tar": gzipped(layer, parts) };
  const files = { "manifest.json": encoded(JSON.stringify(manifest)), [named]: config, ...layers };
  const entries = Object.entries(files).map(([name, bytes]) => ({ name, bytes, executable: false }));
  return { name: `${NAME}-image-${version}-${architecture}.tar`, bytes: plainTar(entries, modifiedAt) };
}

function settingsOf(version: string): object {
  return {
    User: `${USER}:${USER}`,
    Env: [
      "PATH=/usr/bin",
      `HOME=/${HOME}`,
      `VIS_HOME=/${HOME}`,
      "VIS_LOG=info",
      "NO_COLOR=1",
      "DENO_TLS_CA_STORE=system", // Operators can replace these certificates of the image.
    ],
    Entrypoint: ["/usr/bin/vis"],
    Cmd: ["serve", "--profile", "locked", "--host", "0.0.0.0", "--cwd", "/srv/vis"],
    WorkingDir: "/srv/vis",
    Volumes: { [`/${HOME}`]: {} },
    ExposedPorts: { "7357/tcp": {} },
    StopSignal: "SIGTERM",
    Healthcheck: {
      Test: ["CMD", "/usr/bin/vis", "serve", "--check"],
      ...{ Interval: 30 * SECOND, Timeout: 10 * SECOND, StartPeriod: 30 * SECOND },
    },
    Labels: {
      "org.opencontainers.image.title": NAME,
      "org.opencontainers.image.version": version,
      "org.opencontainers.image.licenses": "Apache-2.0",
    },
  };
}

/** A folder must precede its contents. */
function rootOf({ program, licences, system }: ImageParts): readonly (TarEntry | TarFolder)[] {
  const text = (name: string, content: string): TarEntry => ({ name, bytes: encoded(content), executable: false });
  const files: readonly TarEntry[] = [
    ...system,
    { name: "usr/bin/vis", bytes: program, executable: true },
    { name: `usr/share/doc/${NAME}/copyright`, bytes: licences, executable: false },
    text("etc/passwd", `root:x:0:0:root:/root:/bin/false\nvis:x:${USER}:${USER}:vis:/${HOME}:/bin/false\n`),
    text("etc/group", `root:x:0:\nvis:x:${USER}:\n`),
    text("etc/nsswitch.conf", "hosts: files dns\n"),
  ];
  const folders = new Map<string, TarFolder>([
    ["srv/vis", { name: "srv/vis", mode: "755", owner: 0 }],
    ["tmp", { name: "tmp", mode: "1777", owner: 0 }],
    [HOME, { name: HOME, mode: "700", owner: USER }],
  ]);
  for (const name of [...files.map((one) => one.name), ...folders.keys()]) {
    for (let at = name.lastIndexOf("/"); at > 0; at = name.lastIndexOf("/", at - 1)) {
      const folder = name.slice(0, at);
      if (!folders.has(folder)) folders.set(folder, { name: folder, mode: "755", owner: 0 });
    }
  }
  return [...folders.values(), ...files].sort((a, b) => a.name < b.name ? -1 : 1);
}

function encoded(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
