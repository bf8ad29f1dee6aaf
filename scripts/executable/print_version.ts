/** The only module that the executable loads to print its version. */
import { ownVersion } from "../../src/app/version.ts";
import { versionLine } from "../../src/channels/cli/output.ts";

console.log(versionLine(ownVersion()));
