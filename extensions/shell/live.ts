/** The parts of the extension that depend on the conversation; loads little. */
import type { EnvironmentView } from "@vis/extension";
import { runningIn } from "./jobs.ts";

const MAX_COMMAND = 80, MAX_FOLDERS = 6;

const live = {
  /** Without a wall, no command can run. */
  activate: async ({ programWalls }: EnvironmentView): Promise<boolean> =>
    programWalls === undefined || await programWalls().then(() => true, () => false),
  prompt: async (env: EnvironmentView): Promise<string> => {
    const running = runningIn(env.envId).map(({ id, command }) =>
      `${id} ${JSON.stringify(command.slice(0, MAX_COMMAND))}`
    );
    return [await wallsText(env), ...(running.length === 0 ? [] : [`Still running: ${running.join(", ")}`])]
      .join(" ");
  },
};
export default live;

/** What commands can reach in this run, and what they get more if the user allows it. */
async function wallsText({ programWalls }: EnvironmentView): Promise<string> {
  if (!programWalls) return "Commands in cwd.";
  const { network, loopback, unix, leftOut } = await programWalls();
  const more = leftOut.length > MAX_FOLDERS ? ` and ${leftOut.length - MAX_FOLDERS} more` : "";
  const missing = leftOut.length === 0
    ? ""
    : ` Not in PATH: ${leftOut.slice(0, MAX_FOLDERS).join(", ")}${more} (shell.read).`;
  const reach = network
    ? "reach any host; write asks"
    : `${
      !loopback ? "have no network" : unix ? "reach localhost" : "reach localhost, no unix sockets"
    }; network and write ask`;
  return `Commands change cwd and $TMPDIR, ${reach} the user.${missing}`;
}
