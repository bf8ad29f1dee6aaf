import { badInputSuite } from "./bad_input_suite.ts";
import { childrenSuite } from "./children_suite.ts";
import { codingSuite } from "./coding_suite.ts";
import { commandsSuite } from "./commands_suite.ts";
import { continueSuite } from "./continue_suite.ts";
import { endSuite } from "./end_suite.ts";
import { flagsSuite } from "./flags_suite.ts";
import { fullDiskSuite } from "./full_disk_suite.ts";
import { givenSuite } from "./given_suite.ts";
import { killSuite } from "./kill_suite.ts";
import type { Launcher } from "./_launcher.ts";
import { machineSuite } from "./machine_suite.ts";
import { modulesSuite } from "./modules_suite.ts";
import { movedSuite } from "./moved_suite.ts";
import { outputsSuite } from "./outputs_suite.ts";
import { protocolsSuite } from "./protocols_suite.ts";
import { providersSuite } from "./providers_suite.ts";
import { replaySuite } from "./replay_suite.ts";
import { repliesSuite } from "./replies_suite.ts";
import { runSuite } from "./run_suite.ts";
import { screenSuite } from "./screen_suite.ts";
import { serveSuite } from "./serve_suite.ts";
import { signalsSuite } from "./signals_suite.ts";
import { streamsSuite } from "./streams_suite.ts";
import { telegramSuite } from "./telegram_suite.ts";
import { twoProcessesSuite } from "./two_processes_suite.ts";

/** Everything that holds for both ways of running the program. */
export const suites: readonly ((launcher: Launcher) => void)[] = [
  runSuite,
  repliesSuite,
  streamsSuite,
  continueSuite,
  endSuite,
  signalsSuite,
  killSuite,
  fullDiskSuite,
  movedSuite,
  machineSuite,
  commandsSuite,
  codingSuite,
  badInputSuite,
  providersSuite,
  givenSuite,
  flagsSuite,
  outputsSuite,
  serveSuite,
  screenSuite,
  telegramSuite,
  protocolsSuite,
  modulesSuite,
  childrenSuite,
  replaySuite,
  twoProcessesSuite,
];
