import { join } from "node:path";
import { PAGE_ENTRY, SANDBOX_ENTRIES } from "../bundle.ts";
import { ROOT } from "../_project.ts";

export interface ThirdParty {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  readonly texts: readonly string[];
}

interface Graph {
  readonly modules: readonly { readonly npmPackage?: string }[];
  readonly npmPackages: Readonly<Record<string, Installed>>;
}

interface Installed {
  readonly name: string;
  readonly version: string;
  readonly dependencies: readonly string[];
  readonly localPath: string;
}

const LICENCE_FILE = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;
const ENTRIES = ["main.ts", "extensions/fs/search/search_worker.ts", PAGE_ENTRY, ...Object.values(SANDBOX_ENTRIES)];

export async function thirdParties(entries: readonly string[] = ENTRIES): Promise<readonly ThirdParty[]> {
  const found = new Map<string, Installed>();
  for (const entry of entries) {
    const { modules, npmPackages } = await graphOf(entry);
    const add = (id: string): void => {
      const one = npmPackages[id];
      if (one === undefined || found.has(`${one.name}@${one.version}`)) return;
      found.set(`${one.name}@${one.version}`, one);
      one.dependencies.forEach(add);
    };
    for (const { npmPackage } of modules) if (npmPackage !== undefined) add(npmPackage);
  }
  const names = [...found.keys()].sort();
  return await Promise.all(names.map((name) => thirdParty(found.get(name)!)));
}

async function graphOf(entry: string): Promise<Graph> {
  const args = ["info", "--json", "--quiet", entry];
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args, cwd: ROOT }).output();
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  if (!success) throw new Error(`Cannot read the module graph of ${entry}: ${err?.trim()}`);
  return JSON.parse(out ?? "");
}

async function thirdParty({ name, version, localPath }: Installed): Promise<ThirdParty> {
  const manifest: { readonly license?: unknown } = JSON.parse(await Deno.readTextFile(join(localPath, "package.json")));
  const files = (await Array.fromAsync(Deno.readDir(localPath))).filter((one) =>
    one.isFile && LICENCE_FILE.test(one.name)
  );
  const texts = await Promise.all(files.map((one) => Deno.readTextFile(join(localPath, one.name))));
  const licence = typeof manifest.license === "string" ? manifest.license : "";
  return { name, version, licence, texts: texts.map((text) => text.replaceAll("\r\n", "\n").trim()).sort() };
}

export function licenceText(carried: string, packages: readonly ThirdParty[]): string {
  const parts = packages.map(({ name, version, licence, texts }) => {
    const text = texts.length > 0 ? texts.join("\n\n") : `Licence: ${licence || "not stated"}`;
    return `${"-".repeat(80)}\n${name} ${version}${licence === "" ? "" : ` (${licence})`}\n\n${text}\n`;
  });
  const runtime = "The executable contains the Deno runtime (https://deno.com), under the MIT licence.\n";
  return [carried.trimEnd(), "", runtime, "Packages in the executable:", "", ...parts].join("\n");
}

/** The format is CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/). */
export function billOfMaterials(
  packages: readonly ThirdParty[],
  { version, modifiedAt }: { readonly version: string; readonly modifiedAt: number },
): string {
  const components = packages.map(({ name, version, licence }) => ({
    type: "library",
    "bom-ref": purlOf(name, version),
    name,
    version,
    ...licence === "" ? {} : { licenses: [{ expression: licence }] },
    purl: purlOf(name, version),
  }));
  const metadata = {
    timestamp: new Date(modifiedAt).toISOString(),
    component: {
      type: "application",
      "bom-ref": "vis",
      name: "vis",
      version,
      licenses: [{ expression: "Apache-2.0" }],
    },
  };
  return `${
    JSON.stringify({ bomFormat: "CycloneDX", specVersion: "1.6", version: 1, metadata, components }, null, 2)
  }\n`;
}

/** A package URL encodes the `@` of a scope (https://github.com/package-url/purl-spec). */
function purlOf(name: string, version: string): string {
  return `pkg:npm/${name.replace(/^@/, "%40")}@${version}`;
}
