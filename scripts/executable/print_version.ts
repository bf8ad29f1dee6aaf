/** The only module that the executable loads to print its version. */
import { ownVersion } from "../../src/app/update/version.ts";
import { versionLine } from "../../src/domain/version.ts";

console.log(versionLine(ownVersion()));
