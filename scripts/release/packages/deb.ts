import { createHash } from "node:crypto";
import { gzipSync } from "fflate";
import { apparmorProfile } from "../../../src/app/doctor/walls.ts";
import { joinBytes } from "../../../src/domain/kit/bytes.ts";
import { type ArchiveOptions, type TarEntry, tarOf } from "../tar.ts";
import { debianArchitecture } from "./debian_architecture.ts";

/** Debian has another program named vis with the same path, so the package has another name. */
const NAME = "vis-agent";

const PROFILE = `/etc/apparmor.d/${NAME}`;
/** Ubuntu 24.04 permits unprivileged user namespaces only with a profile that AppArmor before 4.0 cannot read. */
const AFTER_INSTALL = `#!/bin/sh
set -e
if [ "$1" = configure ] && [ -e /etc/apparmor.d/abi/4.0 ]; then
  cp /usr/share/${NAME}/apparmor ${PROFILE}
  chmod 644 ${PROFILE}
  if [ -d /sys/kernel/security/apparmor ] && command -v apparmor_parser >/dev/null; then
    apparmor_parser --replace --write-cache --skip-bad-cache ${PROFILE} || echo "vis-agent: cannot load ${PROFILE}" >&2
  fi
fi
`;
const BEFORE_REMOVAL = `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -e ${PROFILE} ]; then
  if [ -d /sys/kernel/security/apparmor ] && command -v apparmor_parser >/dev/null; then
    apparmor_parser --remove ${PROFILE} || true
  fi
  rm -f ${PROFILE}
fi
`;

export interface DebParts extends ArchiveOptions {
  readonly target: string;
  readonly version: string;
  readonly program: Uint8Array;
  readonly manual: Uint8Array;
  readonly licences: Uint8Array;
  readonly completions: Readonly<Record<"bash" | "zsh" | "fish", string>>;
}

/** Returns null if Debian does not run on the target. https://manpages.debian.org/deb.5 describes the format. */
export function debOf(parts: DebParts): { readonly name: string; readonly bytes: Uint8Array } | null {
  const { target, version, program, manual, licences, completions, modifiedAt } = parts;
  const architecture = debianArchitecture(target);
  if (architecture === null) return null;
  const text = (given: string): Uint8Array => new TextEncoder().encode(given);
  const files: readonly TarEntry[] = [
    { name: "usr/bin/vis", bytes: program, executable: true },
    { name: "usr/share/man/man1/vis.1.gz", bytes: gzipSync(manual, { mtime: 0 }), executable: false },
    { name: `usr/share/doc/${NAME}/copyright`, bytes: licences, executable: false },
    { name: "usr/share/bash-completion/completions/vis", bytes: text(completions.bash), executable: false },
    { name: "usr/share/zsh/vendor-completions/_vis", bytes: text(completions.zsh), executable: false },
    { name: "usr/share/fish/vendor_completions.d/vis.fish", bytes: text(completions.fish), executable: false },
    { name: `usr/share/${NAME}/apparmor`, bytes: text(apparmorProfile("/usr/bin/vis")), executable: false },
  ];
  const control = [
    { name: "control", bytes: text(controlOf({ version, architecture, files })), executable: false },
    { name: "postinst", bytes: text(AFTER_INSTALL), executable: true },
    { name: "prerm", bytes: text(BEFORE_REMOVAL), executable: true },
    { name: "md5sums", bytes: text(files.map(md5Line).join("")), executable: false },
  ];
  const members = {
    "debian-binary": text("2.0\n"),
    "control.tar.gz": tarOf(control.map((one) => ({ ...one, name: `./${one.name}` })), parts),
    "data.tar.gz": tarOf(files.map((one) => ({ ...one, name: `./${one.name}` })), parts),
  };
  return { name: `${NAME}_${version}_${architecture}.deb`, bytes: archive(members, modifiedAt) };
}

function controlOf(
  { version, architecture, files }: {
    readonly version: string;
    readonly architecture: string;
    readonly files: readonly TarEntry[];
  },
): string {
  const size = Math.ceil(files.reduce((sum, { bytes }) => sum + bytes.length, 0) / 1024);
  return `Package: ${NAME}
Version: ${version}
Architecture: ${architecture}
Maintainer: The Vis authors <vis@localhost>
Installed-Size: ${size}
Depends: libc6 (>= 2.31), libgcc-s1
Recommends: git
Conflicts: vis
Section: devel
Priority: optional
Description: agent that writes and runs TypeScript in a sandbox
 The model writes TypeScript, a sandbox that starts with no permissions runs it,
 and state is kept in variables and SQLite.
`;
}

function md5Line({ name, bytes }: TarEntry): string {
  return `${createHash("md5").update(bytes).digest("hex")}  ${name}\n`;
}

function archive(members: Readonly<Record<string, Uint8Array>>, modifiedAt: number): Uint8Array {
  const encoder = new TextEncoder();
  const parts: Uint8Array[] = [encoder.encode("!<arch>\n")];
  for (const [name, bytes] of Object.entries(members)) {
    const columns = [name.padEnd(16), String(Math.floor(modifiedAt / 1000)).padEnd(12), "0     ", "0     "];
    parts.push(encoder.encode(`${columns.join("")}${"100644".padEnd(8)}${String(bytes.length).padEnd(10)}\`\n`), bytes);
    if (bytes.length % 2 === 1) parts.push(encoder.encode("\n"));
  }
  return joinBytes(parts);
}
