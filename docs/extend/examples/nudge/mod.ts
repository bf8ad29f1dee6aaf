/** `nudge`: a line for the model after a slow block. */
import { defineExtension, type NudgeContext } from "@vis/extension";

export default defineExtension({
  namespace: "example.nudge",
  alias: { ns: "vis.ext.hurry", alias: "hurry" },
  doc: "Warns the model about slow blocks.",
  version: "1.0.0",
  nudge: ({ prevExpressions }: NudgeContext) => {
    const slow = prevExpressions?.find(({ executionTimeMs }) => executionTimeMs > 10_000);
    return slow ? `A block took ${Math.round(slow.executionTimeMs / 1000)} s: work on a sample first` : null;
  },
});
