/** The attacks of commands where every command takes seconds to start: as few of them as possible. */
import { attacksTogetherSuite, controlsSuite } from "./_attacks_suite.ts";
import { missing } from "./_place.ts";

controlsSuite({ missing });
attacksTogetherSuite({ missing, timeoutMs: 30 * 60_000 });
