import { baseRuntime } from "../helpers/base_runtime.ts";
import { sourceLauncher } from "./_launcher.ts";
import { runSuite } from "./suites/run_suite.ts";

const launcher = await sourceLauncher();
runSuite(launcher);
if (!(await baseRuntime()).ok) {
  const { bothWaysLong, oneWay } = await import("./_suites.ts");
  for (const suite of [...bothWaysLong, ...oneWay]) suite(launcher);
}
