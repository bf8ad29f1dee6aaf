import { baseRuntime } from "../helpers/base_runtime.ts";
import { sourceLauncher } from "./_launcher.ts";
import { bothWays, bothWaysLong, oneWay } from "./_suites.ts";

const launcher = await sourceLauncher();
const executable = (await baseRuntime()).ok;
for (const suite of [...bothWays, ...(executable ? [] : [...bothWaysLong, ...oneWay])]) suite(launcher);
