import type { CheckResult, OpenRequest } from "../channels/channel.ts";
import { ConfigError, StoreError } from "../domain/errors.ts";
import { openStore } from "../persistence/open_store.ts";
import { probeWalls, type WallProbe } from "../sandbox/probe_walls.ts";
import { buildRouter } from "./build_router.ts";
import type { SessionParts } from "./open_session.ts";
import { readSettings, type Settings } from "./settings.ts";

const REACH_MS = 5_000;

/** Tries what Vis needs on this machine. Never throws for a fault that it can name. */
export async function doctor(request: OpenRequest, { env }: SessionParts): Promise<readonly CheckResult[]> {
  const runtime = checkRuntime();
  let settings: Settings;
  try {
    settings = await readSettings(request, env);
  } catch (error) {
    return [runtime, { name: "configuration", state: "fail", found: messageOf(error), mend: "Mend it and try again" }];
  }
  const [walls, database, provider] = await Promise.all([
    checkWalls(settings),
    checkDatabase(settings),
    checkProvider(settings),
  ]);
  const home: CheckResult = { name: "home", state: "ok", found: settings.home ?? "none", mend: "" };
  return [runtime, home, ...walls, database, provider];
}

function checkRuntime(): CheckResult {
  const { deno, v8 } = Deno.version;
  const found = `deno ${deno}, v8 ${v8}${Deno.build.standalone ? ", compiled" : ""}`;
  const [major = 0, minor = 0, patch = 0] = deno.split(/[.+-]/).map(Number);
  const old = major < 2 || major === 2 && (minor < 8 || minor === 8 && patch < 1);
  if (!old) return { name: "runtime", state: "ok", found, mend: "" };
  const mend = "Runtimes below 2.8.1 have published permission bypasses: the other walls still hold, use a newer build";
  return { name: "runtime", state: "warn", found, mend };
}

async function checkWalls({ config }: Settings): Promise<readonly CheckResult[]> {
  let probes: readonly WallProbe[];
  try {
    probes = await probeWalls();
  } catch (error) {
    return [{
      name: "sandbox",
      state: "fail",
      found: messageOf(error),
      mend: "No block can run before this is mended",
    }];
  }
  return probes.map(({ wall, holds, found }) => {
    const required = config.sandbox.require.includes(wall);
    const mend = holds ? "" : `${found.mend}${required ? "; sandbox.require names it, so no block runs" : ""}`;
    const state = holds ? "ok" : wall === "kernel" && !required ? "warn" : "fail";
    return { name: `wall: ${wall}`, state, found: found.text, mend };
  });
}

async function checkDatabase({ database }: Settings): Promise<CheckResult> {
  const name = "database";
  if (database !== ":memory:" && !await exists(database)) {
    return { name, state: "ok", found: `${database} (made by the first query)`, mend: "" };
  }
  try {
    const store = await openStore({ path: database });
    try {
      const problems = await store.check();
      if (problems.length === 0) return { name, state: "ok", found: database, mend: "" };
      const mend = "Keep a copy of the file before anything else writes to it";
      return { name, state: "fail", found: problems.slice(0, 3).join("; "), mend };
    } finally {
      await store.close();
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return { name, state: "fail", found: error.message, mend: "" };
  }
}

async function checkProvider(settings: Settings): Promise<CheckResult> {
  const name = "provider";
  try {
    const { provider, model } = (await buildRouter(settings)).current();
    const found = `${provider.name} ${model}`;
    try {
      const models = await provider.models({ signal: AbortSignal.timeout(REACH_MS) });
      if (models.length === 0 || models.includes(model)) return { name, state: "ok", found, mend: "" };
      const known = models.slice(0, 5).join(", ");
      return { name, state: "warn", found: `${found}: the server does not list this model`, mend: `It has ${known}` };
    } catch (error) {
      return {
        name,
        state: "fail",
        found: `${found}: ${messageOf(error)}`,
        mend: "Start the server, or set VIS_BASE_URL",
      };
    }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const [headline = "", ...rest] = error.message.split("\n");
    return {
      name,
      state: "warn",
      found: headline,
      mend: rest.map((line) => line.trim().replace(/ {2,}/g, " ")).join("; "),
    };
  }
}

async function exists(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, (error) => !(error instanceof Deno.errors.NotFound));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
