/** The attacks of commands in as few commands as possible, for an emulator, where every command takes seconds to
 * start. */
import { attacksTogetherSuite, controlsSuite } from "./_attacks_suite.ts";
import { missing } from "./_place.ts";

controlsSuite({ missing });
attacksTogetherSuite({ missing, timeoutMs: 30 * 60_000 });
