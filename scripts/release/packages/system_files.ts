import { joinBytes } from "../../../src/domain/kit/bytes.ts";
import type { TarEntry } from "../tar.ts";
import { debianArchitecture } from "./debian_architecture.ts";

/** The executable loads the shared libraries of these packages. */
const LIBRARIES = ["libc6", "libgcc-s1"];
const CERTIFICATES = "ca-certificates";
/** Some packages name /usr/lib, but the loader must be below /lib. */
const LIBRARY = /^(?:\/usr)?\/(lib(?:64)?\/(?:[^/]+\/)?[^/]+\.so(?:\.\d+)*)$/;

/** Scanners recognize the packages by their records. Certificates that were added to this machine are left out. Returns
 * null if a package is not installed for the target. */
export async function systemFiles(target: string): Promise<readonly TarEntry[] | null> {
  const architecture = debianArchitecture(target);
  if (architecture === null) return null;
  const certificates: Uint8Array[] = [];
  const files: TarEntry[] = [];
  const add = (name: string, bytes: Uint8Array): void => void files.push({ name, bytes, executable: false });
  for (const name of [...LIBRARIES, CERTIFICATES]) {
    const id = name === CERTIFICATES ? name : `${name}:${architecture}`;
    const [status, paths] = await Promise.all([asked("--status", id), asked("--listfiles", id)]);
    if (status === null || paths === null) return null;
    for (const path of paths.split("\n")) {
      const library = LIBRARY.exec(path)?.[1];
      if (library !== undefined) files.push({ name: library, bytes: await Deno.readFile(path), executable: true });
      if (/^\/usr\/share\/ca-certificates\/.*\.crt$/.test(path)) certificates.push(await Deno.readFile(path));
    }
    add(`var/lib/dpkg/status.d/${name}`, new TextEncoder().encode(status));
    add(`usr/share/doc/${name}/copyright`, await Deno.readFile(`/usr/share/doc/${name}/copyright`));
  }
  add("etc/ssl/certs/ca-certificates.crt", joinBytes(certificates));
  add("etc/os-release", await Deno.readFile("/etc/os-release"));
  return files;
}

async function asked(what: string, name: string): Promise<string | null> {
  const asking = new Deno.Command("dpkg-query", { args: [what, name], stderr: "null" });
  // `output` throws if the program is absent.
  const found = await Promise.try(() => asking.output()).catch(() => null);
  return found?.success ? new TextDecoder().decode(found.stdout) : null;
}
