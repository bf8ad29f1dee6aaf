/** The parts of the extension that depend on the conversation; loads little. */
import type { EnvironmentView } from "@vis/extension";
import { runningIn } from "./jobs.ts";

const TEXT =
  "Commands in cwd: tests, builds. They may write in cwd and $TMPDIR only, see no home folder, and nothing goes on after shell.run. A failed command is a result: look at code.";
const MAX_COMMAND = 80;

const live = {
  activate: (): boolean => true,
  prompt: ({ envId }: EnvironmentView): string => {
    const running = runningIn(envId).map(({ id, command }) => `${id} ${JSON.stringify(command.slice(0, MAX_COMMAND))}`);
    return running.length === 0 ? TEXT : `${TEXT}\nStill running: ${running.join(", ")}`;
  },
};
export default live;
