import { type DoctorCheck, type DoctorContext, messageOf } from "@vis/extension";

/** In older versions, names of filters in a repository's settings cannot be overridden. */
const MAJOR = 2, MINOR = 31;

/** Whether git is installed and new enough. */
export async function checkGit({ spawn }: DoctorContext): Promise<readonly DoctorCheck[]> {
  if (!spawn) return [];
  const name = "git";
  try {
    const { stdout } = await spawn(["git", "--version"]);
    const found = stdout.trim();
    const [, major, minor] = /(\d+)\.(\d+)/.exec(found) ?? [];
    const old = Number(major) < MAJOR || Number(major) === MAJOR && Number(minor) < MINOR;
    if (!old) return [{ name, state: "ok", found, fix: "" }];
    const fix = `Install git ${MAJOR}.${MINOR} or later: repositories whose settings name filters are refused`;
    return [{ name, state: "warn", found, fix }];
  } catch (error) {
    const found = messageOf(error);
    const fix = "Install git, or add its folder to shell.read: without it the extension git is inactive";
    return [{ name, state: "warn", found, fix }];
  }
}
