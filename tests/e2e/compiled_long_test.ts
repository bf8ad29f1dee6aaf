import { compiledLauncher, sourceLauncher } from "./_launcher.ts";
import { oneWayLong } from "./_long_suites.ts";
import { bothWaysLong } from "./_suites.ts";

const compiled = await compiledLauncher();
const source = await sourceLauncher();
const executable = compiled.missing === "";
for (const suite of oneWayLong) suite(executable ? compiled : source);
// Without an executable, the other part of the tests runs these suites from source.
if (executable) { for (const suite of bothWaysLong) suite(source); }
