import { approvalsSuite } from "./suites/approvals_suite.ts";
import { codingSuite } from "./suites/coding_suite.ts";
import { commandsSuite } from "./suites/commands_suite.ts";
import { continueSuite } from "./suites/continue_suite.ts";
import type { Launcher } from "./_launcher.ts";
import { modulesSuite } from "./suites/modules_suite.ts";
import { serveSuite } from "./suites/serve_suite.ts";
import { startsSuite } from "./suites/starts_suite.ts";

/** What depends on how the program is started and built: held on the executable, and from source in the long part of
 * the tests. The gate holds `runSuite` both ways. */
export const bothWaysLong: readonly ((launcher: Launcher) => void)[] = [
  startsSuite,
  serveSuite,
  modulesSuite,
];

/** Other behaviour: held on the executable, or from source where none can be made. */
export const oneWay: readonly ((launcher: Launcher) => void)[] = [
  commandsSuite,
  continueSuite,
  approvalsSuite,
  codingSuite,
];
