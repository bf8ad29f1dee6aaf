/** `modules`: pure code under bare names in the sandbox, called synchronously. */
import { defineExtension } from "@vis/extension";

export default defineExtension({
  namespace: "example.modules",
  alias: { ns: "vis.ext.numbers", alias: "numbers" },
  doc: "Statistics and money inside the sandbox.",
  version: "1.0.0",
  prompt: "stats.mean(list), stats.median(list) and new Money(cents).plus(other) need no await.",
  modules: { stats: "./stats.ts", Money: "./money.ts" },
});
