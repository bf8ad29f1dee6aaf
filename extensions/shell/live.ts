/** The parts of the extension that depend on the conversation; loads little. */
import { type EnvironmentView, messageOf } from "@vis/extension";
import { runningIn } from "./jobs.ts";

const TEXT =
  "Commands in cwd: tests, builds. Nothing goes on after shell.run. A failed command is a result: look at code.";
const MAX_COMMAND = 80, MAX_FOLDERS = 6;

const live = {
  activate: (): boolean => true,
  prompt: async (env: EnvironmentView): Promise<string> => {
    const running = runningIn(env.envId).map(({ id, command }) =>
      `${id} ${JSON.stringify(command.slice(0, MAX_COMMAND))}`
    );
    return [
      TEXT,
      await wallsText(env),
      env.endsWithQuery
        ? "shell.start: until this request ends, since this run is one request (vis and vis serve keep commands)."
        : "shell.start goes on over requests.",
      ...(running.length === 0 ? [] : [`Still running: ${running.join(", ")}`]),
    ].filter((line) => line !== "").join("\n");
  },
};
export default live;

/** What commands can reach in this run, with the settings that allow more. */
async function wallsText({ programWalls }: EnvironmentView): Promise<string> {
  if (!programWalls) return "";
  try {
    const { network, leftOut } = await programWalls();
    const more = leftOut.length > MAX_FOLDERS ? ` and ${leftOut.length - MAX_FOLDERS} more` : "";
    const missing = leftOut.length === 0
      ? ""
      : ` Not in PATH: ${leftOut.slice(0, MAX_FOLDERS).join(", ")}${more} (shell.read).`;
    return `They write in cwd and $TMPDIR only, read no home folder (shell.read), and have ${
      network ? "TCP to anywhere" : "no network (shell.network)"
    }.${missing} In brackets: settings of the user.`;
  } catch (error) {
    return `No command can run here: ${messageOf(error)}`;
  }
}
