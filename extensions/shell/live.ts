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

/** Where the wall is not whole. */
const ASKED =
  "The user is asked for each: prefer functions and code in the block; one plain command per call; $( ), redirections, assignments, sh -c and git are asked every time; a refusal is final.";

/** What commands can reach in this run, and what they get more if the user allows it. */
async function wallsText({ programWalls }: EnvironmentView): Promise<string> {
  if (!programWalls) return "Commands in cwd.";
  const { network, loopback, unix, leftOut, unwalled } = await programWalls();
  const asked = unwalled?.mode === "ask" ? ` ${ASKED}` : "";
  if (unwalled?.some === false) return `Commands run without a wall.${asked}`;
  const more = leftOut.length > MAX_FOLDERS ? ` and ${leftOut.length - MAX_FOLDERS} more` : "";
  const missing = leftOut.length === 0
    ? ""
    : ` Not in PATH: ${leftOut.slice(0, MAX_FOLDERS).join(", ")}${more} (shell.read).`;
  const reach = network
    ? "reach any host; write asks"
    : `${
      !loopback ? "have no network" : unix ? "reach localhost" : "reach localhost, no unix sockets"
    }; network and write ask`;
  return `Commands change cwd and $TMPDIR, ${reach} the user.${missing}${asked}`;
}
