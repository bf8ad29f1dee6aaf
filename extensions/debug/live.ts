/** What of the extension depends on the conversation; loads nothing. */
import type { EnvironmentView } from "@vis/extension";

const live = {
  activate: ({ db, depth }: EnvironmentView): boolean => db !== undefined && depth === 0,
  /** Who wants it names it: no call carries a word of it. */
  prompt: (): string => "",
};
export default live;
