import { join } from "node:path";
import type { CheckResult } from "../../channels/channel.ts";
import { type ConfigError, fileCode, fileFault, SettingError } from "../../domain/errors.ts";
import { folderFault } from "../settings/folder_fault.ts";
import type { Settings } from "../settings/settings.ts";

/** Why the settings cannot be used, and how to fix it. */
export function settingsFault(error: ConfigError): CheckResult {
  return { name: "configuration", state: "fail", found: error.message, fix: settingsFix(error) };
}

function settingsFix(error: ConfigError): string {
  if (error instanceof SettingError) {
    const project = error.project ? " --project" : "";
    return `vis config unset${project} ${error.key} removes it; vis config schema shows what is allowed`;
  }
  if (error.code === "access") {
    return "Make it readable for Vis or, if it is not the file of a project, set VIS_HOME to another folder";
  }
  if (error.code === "syntax") return "Fix the text of the file: it is JSON with comments";
  return "vis help run lists the variables of the environment";
}

/** Checks where the settings come from, and whether others can read what only the user should. */
export async function diagnoseSettings({ home, layers }: Settings): Promise<readonly CheckResult[]> {
  const files = layers.filter(({ layer }) => layer === "user" || layer === "project").map(({ where }) => where(""));
  const found = files.length === 0 ? "no settings file; all defaults apply" : files.join(", ");
  const checks: CheckResult[] = [{ name: "configuration", state: "ok", found, fix: "" }];
  for (const note of layers.flatMap(({ ignored = [] }) => ignored)) {
    checks.push({ name: "configuration", state: "warn", found: note, fix: "Remove it" });
  }
  if (home === null) {
    const fix = "Set VIS_HOME to a folder that Vis may write";
    return [...checks, { name: "home", state: "warn", found: "none", fix }];
  }
  checks.push(await diagnoseHome(home));
  for (const name of ["auth.json", "server-token"]) {
    const open = await openToOthers(join(home, name));
    if (open !== "") {
      checks.push({
        name,
        state: name === "auth.json" ? "fail" : "warn",
        found: open,
        fix: `chmod 600 ${join(home, name)}`,
      });
    }
  }
  return checks;
}

async function diagnoseHome(home: string): Promise<CheckResult> {
  const name = "home";
  const info = await Deno.stat(home).catch(() => null);
  if (info === null) {
    const why = folderFault(home);
    if (why === "") return { name, state: "ok", found: `${home} (created when needed)`, fix: "" };
    return { name, state: "fail", found: `${home} cannot be created: ${why}`, fix: "Set VIS_HOME to another one" };
  }
  if (!info.isDirectory) {
    return { name, state: "fail", found: `${home} is not a folder`, fix: "Set VIS_HOME to another one" };
  }
  const probe = join(home, `.doctor-${crypto.randomUUID()}`);
  try {
    // Not empty: a full disk still accepts file names.
    await Deno.writeTextFile(probe, " ".repeat(8192), { createNew: true });
    return { name, state: "ok", found: home, fix: "" };
  } catch (error) {
    const fix = HOME_FIXES[fileCode(error)] ?? "Fix its owner and permissions, or set VIS_HOME to another";
    return { name, state: "fail", found: `${home} cannot be written: ${fileFault(error)}`, fix };
  } finally {
    await Deno.remove(probe).catch(() => {});
  }
}

const HOME_FIXES: Readonly<Record<string, string>> = {
  ENOSPC: "Free some space on it",
  EROFS: "Mount it for writing, or set VIS_HOME to another",
};

/** Describes the fault; "" for none. */
async function openToOthers(path: string): Promise<string> {
  const mode = await Deno.stat(path).then((info) => info.mode, () => null);
  if (Deno.build.os === "windows" || mode === null || (mode & 0o077) === 0) return "";
  return `${path} can be read by others (${(mode & 0o777).toString(8)})`;
}
