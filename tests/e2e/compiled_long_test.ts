import { compiledLauncher, sourceLauncher } from "./_launcher.ts";
import { oneWayLong } from "./_suites.ts";

const compiled = await compiledLauncher();
const launcher = compiled.missing === "" ? compiled : await sourceLauncher();
for (const suite of oneWayLong) suite(launcher);
