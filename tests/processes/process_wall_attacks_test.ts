import { attacksSuite, controlsSuite } from "./_attacks_suite.ts";
import { missing } from "./_place.ts";

attacksSuite({ name: "from source", missing, launcher: () => Promise.resolve(undefined) });
controlsSuite({ missing });
