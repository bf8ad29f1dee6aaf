/** The parts of the extension that depend on the conversation; loads nothing. */
import type { EnvironmentView } from "@vis/extension";

const live = {
  activate: ({ db, depth }: EnvironmentView): boolean => db !== undefined && depth === 0,
  /** Empty: no call mentions it, and whoever needs it names it. */
  prompt: (): string => "",
};
export default live;
