import { compiledLauncher } from "./_launcher.ts";
import { suites } from "./_suites.ts";

const launcher = await compiledLauncher();
for (const suite of suites) suite(launcher);
