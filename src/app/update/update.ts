import { Buffer } from "node:buffer";
import { createHash, createPublicKey, verify } from "node:crypto";
import { dirname, join, resolve } from "node:path";
import { z } from "zod";
import type { Config } from "../../config/schema.ts";
import { Cancelled, ConfigError, fileCode, fileFault, reasonOf, UsageError } from "../../domain/errors.ts";
import { isSecureUrl, withoutLogin } from "../../domain/kit/addresses.ts";
import { readBounded } from "../../domain/kit/bytes.ts";
import { readForeignJson } from "../../domain/kit/json.ts";
import type { InstalledRelease, UpdateRequest, VersionFacts } from "../../domain/admin_reports.ts";
import { readTar } from "../../extension/read_tar.ts";
import { download } from "./download.ts";
import { compareVersions } from "../version.ts";

const MIB = 1024 * 1024;
const MAX_BYTES = { index: 4 * MIB, signature: 4096, archive: 256 * MIB, program: 512 * MIB };
const HEADING = /^## \[?v?(\d+\.\d+\.\d+[\w.-]*)/;

interface ReleaseSource {
  readonly from: string | null;
  readonly publicKey: string | null;
}

const OF_BUILD: ReleaseSource = { from: filled("@RELEASE_URL@"), publicKey: filled("@RELEASE_KEY@") };

function filled(text: string): string | null {
  return text === "" || text.startsWith("@") ? null : text;
}

interface UpdateParts {
  readonly version: VersionFacts;
  readonly config: Pick<Config, "update">;
  readonly program: string;
  readonly container: boolean;
  readonly release?: ReleaseSource;
}

export async function update(request: UpdateRequest, parts: UpdateParts): Promise<InstalledRelease | null> {
  const { version, program } = parts;
  const { place, key } = sourceOf(request, parts);
  const index = indexFrom(await verified("latest.json", { place, key, maxBytes: MAX_BYTES.index }));
  const compared = compareVersions(index.version, version.vis);
  request.onFound({
    version: index.version,
    age: compared > 0 ? "newer" : compared < 0 ? "older" : "same",
    changes: changesBetween(index.changelog, { after: version.vis, upTo: index.version }),
  });
  if (request.check || compared === 0 && !request.force) return null;
  if (compared < 0 && !request.force) {
    throw new UsageError(
      `Cannot update to vis ${index.version}: it is older than ${version.vis}, this version; add --force to install it`,
    );
  }
  const manager = installedBy(program, parts);
  if (manager) throw new ConfigError(`Cannot replace ${program}: ${manager.by} installed it`, { advice: manager.how });
  const bytes = await programFrom(index, { place, key, target: version.target });
  if (request.signal.aborted) throw new Cancelled("Cancelled");
  return await replaceProgram(program, bytes, { version: index.version });
}

interface Source {
  readonly place: ReleasePlace;
  readonly key: VerifyingKey;
}

function sourceOf(request: UpdateRequest, { config, program, container, release = OF_BUILD }: UpdateParts): Source {
  const from = request.from ?? config.update.from ?? release.from;
  if (from === null) {
    const manager = installedBy(program, { container });
    throw new ConfigError("Cannot check for an update: no address of releases is set", {
      advice: manager
        ? `${manager.how}, because ${manager.by} installed this executable`
        : "use --from URL or DIR, or vis config set update.from URL",
    });
  }
  const key = request.key ?? config.update.publicKey ?? release.publicKey;
  if (key === null) {
    throw new ConfigError("Cannot verify an update: no public key is set", {
      advice: "use --key KEY, or vis config set update.publicKey KEY, with the key of the publisher",
    });
  }
  return { place: new ReleasePlace(from, request.signal), key: new VerifyingKey(key) };
}

async function verified(
  name: string,
  { place, key, maxBytes }: Source & { readonly maxBytes: number },
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await place.read(name, maxBytes);
  const signature = new TextDecoder().decode(await place.read(`${name}.minisig`, MAX_BYTES.signature));
  const fault = key.fault(bytes, signature);
  if (fault !== null) {
    throw new UsageError(
      `Cannot trust the signature of ${name}: ${fault}, and Vis changed nothing; check the address and the public key`,
    );
  }
  return bytes;
}

function indexFrom(bytes: Uint8Array): ReturnType<typeof ReleaseIndex.parse> {
  try {
    return ReleaseIndex.parse(readForeignJson(new TextDecoder().decode(bytes)));
  } catch {
    throw new UsageError(
      "Cannot read latest.json: it does not describe a release of Vis; check --from or the setting update.from",
    );
  }
}

async function programFrom(
  { version, archives }: ReturnType<typeof ReleaseIndex.parse>,
  { target, ...source }: Source & { readonly target: string },
): Promise<Uint8Array> {
  const archive = archives.find((one) => one.target === target);
  if (!archive) {
    const targets = archives.map((one) => one.target).join(", ");
    throw new UsageError(
      `Cannot update to vis ${version}: the release has no executable for ${target}${
        targets === "" ? "" : `, only for ${targets}`
      }`,
    );
  }
  const { name, sha256 } = archive;
  const bytes = await verified(name, { ...source, maxBytes: Math.min(archive.bytes, MAX_BYTES.archive) });
  if (createHash("sha256").update(bytes).digest("hex") !== sha256) {
    throw new UsageError(
      `Cannot use ${name}: its checksum does not match latest.json, and Vis changed nothing; try again later`,
    );
  }
  const program = name.endsWith(".zip")
    ? (await import("fflate")).unzipSync(bytes)[`vis-${version}/vis.exe`]
    : (await readTar(bytes, { name, maxBytes: MAX_BYTES.program })).get("vis");
  if (!program) {
    throw new UsageError(`Cannot use ${name}: the archive contains no executable; report this to the publisher`);
  }
  return program;
}

function changesBetween(
  changelog: string,
  { after, upTo }: { readonly after: string; readonly upTo: string },
): string {
  return changelog.split(/^(?=## )/m).filter((section) => {
    const version = HEADING.exec(section)?.[1];
    return version !== undefined && compareVersions(version, after) > 0 && compareVersions(version, upTo) <= 0;
  }).join("").trim();
}

function installedBy(
  path: string,
  { container }: { readonly container: boolean },
): { readonly by: string; readonly how: string } | null {
  if (/[\\/]node_modules[\\/]/.test(path)) return { by: "npm", how: "run npm install --global vis-agent@latest" };
  if (/\/(?:Cellar|linuxbrew)\//.test(path)) return { by: "Homebrew", how: "run brew upgrade vis-agent" };
  if (container && /^\/usr\/(?:local\/)?bin\/vis$/.test(path)) {
    return { by: "a container image", how: "load or build the image of the new release, and start a container of it" };
  }
  if (path === "/usr/bin/vis") {
    return { by: "a package", how: "run sudo apt install ./vis-agent_VERSION_ARCHITECTURE.deb" };
  }
  return null;
}

const IS_WINDOWS = Deno.build.os === "windows";

async function replaceProgram(
  link: string,
  bytes: Uint8Array,
  { version }: { readonly version: string },
): Promise<InstalledRelease> {
  const path = await Deno.realPath(link);
  const fresh = `${path}.${crypto.randomUUID()}${IS_WINDOWS ? ".exe" : ""}`;
  try {
    await write(fresh, bytes);
    await tryOut(fresh, version);
    const kept = `${path}.old`;
    await swap({ path, fresh, kept });
    return { path, kept };
  } catch (error) {
    await Deno.remove(fresh).catch(() => {});
    if (error instanceof UsageError) throw error;
    const isDenied = ["EACCES", "EPERM", "EROFS"].includes(fileCode(error));
    const fix = isDenied ? `; Vis must be able to write in ${dirname(path)}` : "";
    throw new UsageError(`Cannot replace ${path}: ${fileFault(error)}${fix}`);
  }
}

async function write(path: string, bytes: Uint8Array): Promise<void> {
  await Deno.writeFile(path, bytes, { mode: 0o755, createNew: true });
  using file = await Deno.open(path);
  await file.sync();
}

async function tryOut(path: string, version: string): Promise<void> {
  const command = new Deno.Command(path, { args: ["version"], stdin: "null", stderr: "null" });
  const failed = { success: false, stdout: new Uint8Array() };
  // `output` throws if the system cannot run the executable.
  const { success, stdout } = await Promise.try(() => command.output()).catch(() => failed);
  const [name, found] = new TextDecoder().decode(stdout).trim().split(/\s/);
  const runs = success && name === "vis";
  if (!runs || found !== version) {
    const why = runs ? `is version ${found}` : "does not run here";
    throw new UsageError(
      `Cannot update to vis ${version}: the downloaded executable ${why}, and Vis changed nothing; report this to the publisher`,
    );
  }
}

/** Windows cannot replace a running program, but can rename the program. */
async function swap(
  { path, fresh, kept }: { readonly path: string; readonly fresh: string; readonly kept: string },
): Promise<void> {
  const aside = `${fresh}.old`;
  if (IS_WINDOWS) await Deno.rename(path, aside);
  else await Deno.link(path, aside).catch(() => Deno.copyFile(path, aside));
  try {
    await Deno.rename(fresh, path);
  } catch (error) {
    await (IS_WINDOWS ? Deno.rename(aside, path) : Deno.remove(aside));
    throw error;
  }
  try {
    await Deno.rename(aside, kept);
  } catch (error) {
    await Deno.rename(aside, path);
    throw error;
  }
}

export const ReleaseIndex = z.object({
  version: z.string().regex(/^\d+\.\d+\.\d+[\w.-]*$/),
  archives: z.array(z.object({
    target: z.string(),
    name: z.string().regex(/^vis-[\w.-]+$/),
    bytes: z.number().int().positive(),
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
  })),
  changelog: z.string(),
});

class ReleasePlace {
  readonly #from: string;
  readonly #signal: AbortSignal;
  readonly #remote: boolean;

  constructor(from: string, signal: AbortSignal) {
    this.#remote = /^[a-z][a-z\d+.-]+:\/\//i.test(from);
    if (this.#remote && !isSecureUrl(from)) {
      throw new ConfigError(
        `Cannot update from ${
          withoutLogin(from)
        }: it is neither an https address nor a folder; name one of these with --from or the setting update.from`,
      );
    }
    this.#from = this.#remote ? `${from.replace(/\/+$/, "")}/` : resolve(from);
    this.#signal = signal;
  }

  async read(name: string, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
    const at = this.#remote ? new URL(name, this.#from).href : join(this.#from, name);
    const [tooLarge, signal] = [() => new Error(`It is larger than ${maxBytes} bytes, the limit`), this.#signal];
    try {
      if (this.#remote) return await download(at, { maxBytes, signal });
      return await readBounded((await Deno.open(at)).readable, { maxBytes, tooLarge, signal });
    } catch (error) {
      if (this.#signal.aborted) throw new Cancelled("Cancelled");
      throw new UsageError(
        `Cannot read ${this.#remote ? withoutLogin(at) : at}: ${
          fileFault(error, reasonOf(error))
        }; check --from or the setting update.from`,
      );
    }
  }
}

/** These bytes precede the 32 bytes of a public Ed25519 key in DER (RFC 8410). */
const SPKI = Buffer.from("302a300506032b6570032100", "hex");

/** The format is minisign's (https://jedisct1.github.io/minisign/). */
class VerifyingKey {
  readonly #id: string;
  readonly #key: ReturnType<typeof createPublicKey>;

  constructor(text: string) {
    const bytes = Buffer.from(text.trim().split("\n").at(-1) ?? "", "base64");
    if (bytes.length !== 42 || bytes.toString("latin1", 0, 2) !== "Ed") {
      throw new ConfigError("Cannot use the key for updates: it is not a public key of minisign", {
        advice: "copy the second line of the .pub file",
      });
    }
    this.#id = idOf(bytes);
    this.#key = createPublicKey({ key: Buffer.concat([SPKI, bytes.subarray(10)]), format: "der", type: "spki" });
  }

  fault(bytes: Uint8Array, minisig: string): string | null {
    const [, own = "", comment = "", both = ""] = minisig.split(/\r?\n/);
    const signed = Buffer.from(own, "base64"), global = Buffer.from(both, "base64");
    const trusted = /^trusted comment: (.*)$/.exec(comment)?.[1];
    if (signed.length !== 74 || global.length !== 64 || trusted === undefined) {
      return "it is not a signature of minisign";
    }
    if (signed.toString("latin1", 0, 2) !== "ED") return "it does not sign a BLAKE2b hash";
    if (idOf(signed) !== this.#id) return `key ${idOf(signed)} made it instead of key ${this.#id}`;
    const signature = signed.subarray(10);
    if (!verify(null, createHash("blake2b512").update(bytes).digest(), this.#key, signature)) {
      return "it does not match the file";
    }
    return verify(null, Buffer.concat([signature, Buffer.from(trusted)]), this.#key, global)
      ? null
      : "its trusted comment was changed";
  }
}

/** The file contains the id in little-endian order, and minisign prints the id in big-endian order. */
function idOf(bytes: Buffer): string {
  return Buffer.from(bytes.subarray(2, 10)).reverse().toString("hex").toUpperCase();
}
