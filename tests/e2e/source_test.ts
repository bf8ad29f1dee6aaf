import { sourceLauncher } from "./_launcher.ts";
import { suites } from "./_suites.ts";

const launcher = await sourceLauncher();
for (const suite of suites) suite(launcher);
