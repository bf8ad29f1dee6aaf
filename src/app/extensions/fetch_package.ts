import { messageOf, UsageError } from "../../domain/errors.ts";
import { readBounded } from "../../domain/kit/bytes.ts";
import { readForeignJson } from "../../domain/kit/json.ts";
import { readTar } from "../../extension/loading/read_tar.ts";
import type { EnvironmentVariables } from "../settings/settings.ts";
import { createHash } from "node:crypto";
import { z } from "zod";

const MAX_BYTES = 32 * 1024 * 1024;
const TIMEOUT_MS = 60_000;
const Version = z.object({ dist: z.object({ tarball: z.url(), integrity: z.string() }) });

/** Fetches the files of a package from npm's registry (`npm:name@version`, the newest if no version is named) and
 * checks them against the registry's hash. Dependencies are not fetched, and none of its code is run. */
export async function fetchPackage(ref: string, env: EnvironmentVariables): Promise<ReadonlyMap<string, Uint8Array>> {
  const [, name, version = "latest"] = /^npm:((?:@[\w.-]+\/)?[\w.-]+)(?:@([\w.+-]+))?$/.exec(ref) ?? [];
  if (!name) throw new UsageError(`Cannot add ${ref}: name a package such as npm:vis-search@1.0.0`);
  const registry = (env["npm_config_registry"] || await askNpm()).replace(/\/+$/, "");
  const facts = Version.safeParse(parsed(await get(`${registry}/${name.replace("/", "%2f")}/${version}`)));
  if (!facts.success) throw new UsageError(`Cannot add ${ref}: the registry does not say where to download it`);
  const { tarball, integrity } = facts.data.dist;
  const bytes = await get(tarball);
  const hash = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
  if (!integrity.split(" ").includes(hash)) {
    throw new UsageError(`Cannot add ${ref}: its content does not match the checksum of the registry`);
  }
  return await readTar(bytes);
}

/** The registry that this user's npm is configured with. */
async function askNpm(): Promise<string> {
  const address = await registryOfNpm().catch(() => "");
  if (URL.canParse(address)) return address;
  throw new UsageError("Cannot find a registry: npm does not name one; set npm_config_registry to its address");
}

async function registryOfNpm(): Promise<string> {
  const npm = new Deno.Command("npm", { args: ["config", "get", "registry"], stdin: "null", stderr: "null" });
  return new TextDecoder().decode((await npm.output()).stdout).trim();
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return readForeignJson(new TextDecoder().decode(bytes));
  } catch {
    return null;
  }
}

async function get(url: string): Promise<Uint8Array<ArrayBuffer>> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(url, { signal });
    if (response.ok && response.body) {
      return await readBounded(response.body, {
        maxBytes: MAX_BYTES,
        tooLarge: () => new Error(`Over ${MAX_BYTES / 1024 / 1024} MiB`),
        signal,
      });
    }
    await response.body?.cancel();
    throw new Error(`Status ${response.status}`);
  } catch (error) {
    throw new UsageError(`Cannot fetch ${url}: ${messageOf(error)}`);
  }
}
