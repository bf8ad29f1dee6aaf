/** The parts of the extension that depend on the conversation; loads little. */
import type { EnvironmentView } from "@vis/extension";
import { runningIn } from "./jobs.ts";

const TEXT = "Tests, builds and other commands in cwd.";
const MAX_COMMAND = 80, MAX_FOLDERS = 6;

const live = {
  /** Without a wall, no command can run. */
  activate: async ({ programWalls }: EnvironmentView): Promise<boolean> =>
    programWalls === undefined || await programWalls().then(() => true, () => false),
  prompt: async (env: EnvironmentView): Promise<string> => {
    const running = runningIn(env.envId).map(({ id, command }) =>
      `${id} ${JSON.stringify(command.slice(0, MAX_COMMAND))}`
    );
    return [TEXT, await wallsText(env), ...(running.length === 0 ? [] : [`Still running: ${running.join(", ")}`])]
      .filter((line) => line !== "").join(" ");
  },
};
export default live;

/** What commands can reach in this run, with the settings that allow more. */
async function wallsText({ programWalls }: EnvironmentView): Promise<string> {
  if (!programWalls) return "";
  const { network, loopback, leftOut } = await programWalls();
  const more = leftOut.length > MAX_FOLDERS ? ` and ${leftOut.length - MAX_FOLDERS} more` : "";
  const missing = leftOut.length === 0
    ? ""
    : ` Not in PATH: ${leftOut.slice(0, MAX_FOLDERS).join(", ")}${more} (shell.read).`;
  return `They write in cwd and $TMPDIR only, ${
    network
      ? "with TCP to anywhere"
      : loopback
      ? "with localhost only (shell.network)"
      : "without network (shell.network)"
  }.${missing}`;
}
