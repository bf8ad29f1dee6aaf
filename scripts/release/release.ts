/** `deno task release [--target <triple>]… [--base-url <url>] [--latest-url <url>] [--output <folder>]` builds
 * executables for this platform or the given platforms; "all" means all release targets. An executable that exceeds its
 * size budget is an error.
 *
 * The publisher puts the files at `--base-url`, and the newest files also at `--latest-url`, by default the same
 * address. README and `vis update` use `--latest-url`.
 *
 * VIS_RELEASE_KEY_FILE names an unencrypted secret key of minisign, which signs the files that users download.
 * SOURCE_DATE_EPOCH, in seconds, sets the time of archive entries; the default is the time of the newest commit. */
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import project from "../../deno.json" with { type: "json" };
import { ROOT } from "../_project.ts";
import { run } from "../_run.ts";
import { compile, embedEmpty, type ReleaseSource } from "../compile.ts";
import { TARGETS } from "../_targets.ts";
import { publicKeyOf, type SigningKey, signingKey } from "./minisign.ts";
import { thirdParties } from "./third_party.ts";
import { packRelease, type Program } from "./pack.ts";
import { sha256 } from "./sha256.ts";
import { systemFiles } from "./packages/system_files.ts";

const BUDGET_MB = 4.5;

const { values } = parseArgs({
  options: {
    target: { type: "string", multiple: true },
    "base-url": { type: "string", default: "" },
    "latest-url": { type: "string" },
    output: { type: "string", default: "dist/release" },
  },
});

async function sizeOf(path: string): Promise<number> {
  return (await Deno.stat(path)).size / 1e6;
}

async function make(target: string, release: ReleaseSource): Promise<Program> {
  const suffix = target.includes("windows") ? ".exe" : "";
  const path = await compile({ output: `build/release/${target}/vis${suffix}`, target, release });
  const empty = await embedEmpty({ output: `build/release/${target}/empty${suffix}`, target });
  const [whole, runtime] = [await sizeOf(path), await sizeOf(empty)];
  await Deno.remove(empty);
  const added = whole - runtime;
  console.log(`${target}  ${whole.toFixed(1)} MB, ${added.toFixed(2)} MB above the runtime (budget ${BUDGET_MB})`);
  if (added > BUDGET_MB) throw new Error(`Cannot release ${target}: its executable is larger than its budget`);
  const system = await systemFiles(target);
  if (system === null && target.includes("linux")) {
    console.log(`${target}  no container image: it needs libc6 and libgcc-s1 of Debian for it, and ca-certificates`);
  }
  return { target, path, system };
}

async function committedAt(): Promise<number> {
  const given = Deno.env.get("SOURCE_DATE_EPOCH");
  if (given) return Number(given) * 1000;
  const git = new Deno.Command("git", { args: ["log", "-1", "--format=%ct"], cwd: ROOT, stderr: "null" });
  return Number(new TextDecoder().decode((await git.output()).stdout)) * 1000;
}

async function keyOf(): Promise<SigningKey | null> {
  const path = Deno.env.get("VIS_RELEASE_KEY_FILE");
  if (path) return signingKey(await Deno.readTextFile(path));
  console.log("Nothing is signed: VIS_RELEASE_KEY_FILE names no secret key of minisign");
  return null;
}

async function checkInstaller(path: string): Promise<void> {
  const found = await run(["-s", "sh", path], { cwd: ROOT, program: "shellcheck" }).catch(() => null);
  if (found === null) console.log("install.sh was not checked: shellcheck is not on the PATH");
  else if (found.code !== 0) throw new Error("Cannot release: shellcheck finds faults in install.sh");
}

async function listEmbedded(path: string): Promise<void> {
  const folder = join(ROOT, "build/compile");
  const lines: string[] = [];
  for await (const { name, isFile } of Deno.readDir(folder)) {
    if (!isFile) continue;
    const bytes = await Deno.readFile(join(folder, name));
    lines.push(`${sha256(bytes)}  ${String(bytes.length).padStart(8)}  ${name}\n`);
  }
  await Deno.writeTextFile(path, lines.sort((a, b) => a.slice(76) < b.slice(76) ? -1 : 1).join(""));
}

try {
  const asked = values.target ?? [Deno.build.target];
  const targets = asked.includes("all") ? TARGETS : asked;
  const unknown = targets.find((target) => !TARGETS.includes(target));
  if (unknown) {
    throw new Error(`Cannot release for ${unknown}: the target is unknown; choose one of ${TARGETS.join(", ")}`);
  }
  const output = resolve(ROOT, values.output);
  await Deno.remove(output, { recursive: true }).catch(() => {});
  const programs: Program[] = [];
  const baseUrl = values["base-url"];
  const latestUrl = values["latest-url"] ?? baseUrl;
  const key = await keyOf();
  const release = { from: latestUrl.replace(/\/+$/, ""), publicKey: key ? publicKeyOf(key) : "" };
  for (const target of targets) programs.push(await make(target, release));
  const { version } = project;
  const modifiedAt = await committedAt();
  const packages = await thirdParties();
  const names = await packRelease({ version, programs, output, baseUrl, latestUrl, modifiedAt, packages, key });
  await checkInstaller(join(output, "install.sh"));
  await listEmbedded(join(output, "EMBEDDED"));
  for (const name of [...names, "EMBEDDED"]) {
    const path = join(output, name);
    console.log(`${relative(ROOT, path)}  ${(await sizeOf(path)).toFixed(1)} MB`);
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  Deno.exit(1);
}
