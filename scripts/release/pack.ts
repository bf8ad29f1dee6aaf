import { join } from "node:path";
import { zipSync } from "fflate";
import { ROOT } from "../_project.ts";
import { ReleaseIndex } from "../../src/app/update/update.ts";
import { completionScript } from "../../src/channels/cli/completion.ts";
import { publicKeyOf, signature, type SigningKey } from "./minisign.ts";
import { debOf } from "./packages/deb.ts";
import { formulaOf } from "./packages/formula.ts";
import { imageOf } from "./packages/image.ts";
import { npmPackages } from "./packages/npm.ts";
import { sha256 } from "./sha256.ts";
import { type ArchiveOptions, type TarEntry, tarOf } from "./tar.ts";
import { billOfMaterials, licenceText, type ThirdParty } from "./third_party.ts";

export interface Program {
  readonly target: string;
  readonly path: string;
  /** Without these libraries and certificates, the release has no container image for the target. */
  readonly system?: readonly TarEntry[] | null;
}

export interface PackOptions extends ArchiveOptions {
  readonly version: string;
  readonly programs: readonly Program[];
  readonly output: string;
  readonly baseUrl: string;
  readonly latestUrl?: string;
  readonly packages: readonly ThirdParty[];
  readonly key?: SigningKey | null;
}

const DOCS: Readonly<Record<string, string>> = {
  "LICENSE": "LICENSE",
  "CHANGELOG.md": "CHANGELOG.md",
  "vis.1": "docs/generated/vis.1",
};

export async function packRelease(options: PackOptions): Promise<readonly string[]> {
  const { version, output, modifiedAt, key } = options;
  if (!/^\d+\.\d+\.\d+[\w.-]*$/.test(version)) {
    throw new Error(`Cannot release version ${version}: it does not have the form 1.2.3`);
  }
  await Deno.mkdir(output, { recursive: true });
  const files = new Map([
    ...await archivesOf(options),
    ...await packagesOf(options),
    ["sbom.cdx.json", encoded(billOfMaterials(options.packages, options))] as const,
    ["install.sh", encoded(await installer(options))] as const,
  ]);
  files.set("SHA256SUMS", encoded(sums(files)));
  for (const [name, bytes] of key ? [...files] : []) {
    const comment = `timestamp:${Math.floor(modifiedAt / 1000)} file:${name} vis ${version}`;
    files.set(`${name}.minisig`, encoded(signature(bytes, { key: key!, comment })));
  }
  for (const [name, bytes] of files) await Deno.writeFile(join(output, name), bytes);
  return [...files.keys()].sort();
}

async function archivesOf(options: PackOptions): Promise<ReadonlyMap<string, Uint8Array>> {
  const { version, programs, baseUrl } = options;
  const files = new Map<string, Uint8Array>();
  const archives: { target: string; name: string; bytes: number; sha256: string }[] = [];
  for (const { target, path } of programs) {
    const windows = target.includes("windows");
    const entries = await entriesOf(path, { folder: `vis-${version}`, windows, options });
    const name = `vis-${version}-${target}${windows ? ".zip" : ".tar.gz"}`;
    const bytes = (windows ? zipped : tarOf)(entries, options);
    files.set(name, bytes);
    archives.push({ target, name, bytes: bytes.length, sha256: sha256(bytes) });
  }
  const changelog = new TextDecoder().decode(await inRoot("CHANGELOG.md"));
  files.set("latest.json", encoded(JSON.stringify(ReleaseIndex.parse({ version, archives, changelog }), null, 2)));
  const url = baseUrl.replace(/\/+$/, "");
  if (url !== "") files.set("vis-agent.rb", encoded(formulaOf({ version, baseUrl: url, archives })));
  return files;
}

async function packagesOf(options: PackOptions): Promise<ReadonlyMap<string, Uint8Array>> {
  const { version, modifiedAt, stored = false } = options;
  const programs = await Promise.all(
    options.programs.map(async ({ path, ...rest }) => ({ ...rest, program: await Deno.readFile(path) })),
  );
  const licences = encoded(await licencesOf(options));
  const completions = { bash: completionScript("bash"), zsh: completionScript("zsh"), fish: completionScript("fish") };
  const docs = {
    "README.md": await readme(options),
    "LICENSE": await inRoot("LICENSE"),
    "LICENSE-third-party": licences,
  };
  const launcher = new TextDecoder().decode(await inRoot("scripts/release/packages/npm_launcher.js"));
  const files = new Map(npmPackages({ version, programs, docs, launcher, modifiedAt, stored }));
  const manual = await inRoot("docs/generated/vis.1");
  for (const { target, program, system } of programs) {
    const deb = debOf({ target, version, program, manual, licences, completions, modifiedAt, stored });
    const image = system ? imageOf({ target, version, program, licences, system, modifiedAt, stored }) : null;
    for (const made of [deb, image]) if (made !== null) files.set(made.name, made.bytes);
  }
  return files;
}

async function licencesOf({ packages }: PackOptions): Promise<string> {
  return licenceText(new TextDecoder().decode(await inRoot("LICENSE-third-party")), packages);
}

async function inRoot(path: string): Promise<Uint8Array> {
  return await Deno.readFile(join(ROOT, path));
}

function encoded(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

async function entriesOf(
  path: string,
  { folder, windows, options }: { readonly folder: string; readonly windows: boolean; readonly options: PackOptions },
): Promise<readonly TarEntry[]> {
  const entries: TarEntry[] = [];
  for (const [name, source] of Object.entries(DOCS)) {
    entries.push({ name: `${folder}/${name}`, bytes: await inRoot(source), executable: false });
  }
  entries.push({ name: `${folder}/README.md`, bytes: await readme(options), executable: false });
  const licences = encoded(await licencesOf(options));
  entries.push({ name: `${folder}/LICENSE-third-party`, bytes: licences, executable: false });
  const name = `${folder}/${windows ? "vis.exe" : "vis"}`;
  entries.push({ name, bytes: await Deno.readFile(path), executable: true });
  return entries.sort((a, b) => a.name < b.name ? -1 : 1);
}

function zipped(entries: readonly TarEntry[], { modifiedAt: mtime }: ArchiveOptions): Uint8Array {
  return zipSync(Object.fromEntries(entries.map(({ name, bytes }) => [name, bytes])), { mtime });
}

async function readme({ baseUrl, latestUrl = baseUrl }: PackOptions): Promise<Uint8Array> {
  const text = new TextDecoder().decode(await inRoot("README.md"));
  return encoded(latestUrl === "" ? text : text.replaceAll("ADDRESS", latestUrl.replace(/\/+$/, "")));
}

async function installer({ version, baseUrl, key }: PackOptions): Promise<string> {
  if (baseUrl !== "" && !URL.canParse(baseUrl)) {
    throw new Error(`Cannot use the address ${baseUrl}: it is not an https address`);
  }
  if (/'/.test(baseUrl)) throw new Error(`Cannot use the address ${baseUrl}: it contains a quote`);
  const template = await Deno.readTextFile(join(ROOT, "scripts/release/install.sh"));
  return template.replace("@VERSION@", version).replace("@BASE_URL@", baseUrl.replace(/\/+$/, ""))
    .replace("@PUBLIC_KEY@", key ? publicKeyOf(key) : "");
}

function sums(files: ReadonlyMap<string, Uint8Array>): string {
  return [...files].sort(([a], [b]) => a < b ? -1 : 1)
    .map(([name, bytes]) => `${sha256(bytes)}  ${name}\n`).join("");
}
