import { answersSuite, approvalsSuite } from "./suites/approvals_suite.ts";
import { badInputSuite } from "./suites/failures/bad_input_suite.ts";
import { childrenSuite } from "./suites/children_suite.ts";
import { changesSuite } from "./suites/coding_suite.ts";
import { conversationsSuite } from "./suites/continue_suite.ts";
import { endSuite } from "./suites/failures/end_suite.ts";
import { flagsSuite } from "./suites/flags_suite.ts";
import { fullDiskSuite } from "./suites/failures/full_disk_suite.ts";
import { givenSuite } from "./suites/given_suite.ts";
import { killSuite } from "./suites/failures/kill_suite.ts";
import type { Launcher } from "./_launcher.ts";
import { limitsSuite } from "./suites/limits_suite.ts";
import { machineSuite } from "./suites/machine_suite.ts";
import { modulesSuite } from "./suites/modules_suite.ts";
import { movedSuite } from "./suites/failures/moved_suite.ts";
import { nodesSuite } from "./suites/nodes_suite.ts";
import { protocolsSuite } from "./suites/protocols_suite.ts";
import { providersSuite } from "./suites/providers_suite.ts";
import { replaySuite } from "./suites/replay_suite.ts";
import { repliesSuite } from "./suites/replies_suite.ts";
import { requestSuite } from "./suites/request_suite.ts";
import { runOptionsSuite } from "./suites/run_options_suite.ts";
import { screenSuite } from "./suites/screen_suite.ts";
import { serveAgainSuite } from "./suites/failures/serve_again_suite.ts";
import { servicesSuite } from "./suites/services_suite.ts";
import { signalsSuite } from "./suites/failures/signals_suite.ts";
import { streamsSuite } from "./suites/streams_suite.ts";
import { telegramSuite } from "./suites/telegram_suite.ts";
import { toolchainsSuite } from "./suites/toolchains_suite.ts";
import { twoProcessesSuite } from "./suites/failures/two_processes_suite.ts";

/** Suites for the long part of the tests. They run the executable, or the sources if no executable can be made. */
export const oneWayLong: readonly ((launcher: Launcher) => void)[] = [
  requestSuite,
  answersSuite,
  approvalsSuite,
  modulesSuite,
  conversationsSuite,
  changesSuite,
  screenSuite,
  protocolsSuite,
  serveAgainSuite,
  runOptionsSuite,
  repliesSuite,
  streamsSuite,
  endSuite,
  signalsSuite,
  killSuite,
  fullDiskSuite,
  movedSuite,
  limitsSuite,
  machineSuite,
  toolchainsSuite,
  servicesSuite,
  badInputSuite,
  providersSuite,
  givenSuite,
  flagsSuite,
  telegramSuite,
  childrenSuite,
  replaySuite,
  twoProcessesSuite,
  nodesSuite,
];
