import { codingSuite } from "./suites/coding_suite.ts";
import { commandsSuite } from "./suites/commands_suite.ts";
import { continueSuite } from "./suites/continue_suite.ts";
import type { Launcher } from "./_launcher.ts";
import { serveSuite } from "./suites/serve_suite.ts";
import { startsSuite } from "./suites/starts_suite.ts";

/** Suites that depend on how the program is started and built. They run the executable, and the sources in the long
 * part of the tests. `runSuite` always runs both. */
export const bothWaysLong: readonly ((launcher: Launcher) => void)[] = [
  startsSuite,
  serveSuite,
];

/** Suites of other behaviour. They run the executable, or the sources if no executable can be made. */
export const oneWay: readonly ((launcher: Launcher) => void)[] = [
  commandsSuite,
  continueSuite,
  codingSuite,
];
