/** `vis --version` loads only this module, so that it starts fast. */
import { ownVersion } from "../../src/app/version.ts";
import { versionLine } from "../../src/channels/cli/output.ts";

console.log(versionLine(ownVersion()));
