import { attacksSuite, controlsSuite } from "../_attacks_suite.ts";
import { missing } from "../_place.ts";

attacksSuite({ missing });
controlsSuite({ missing });
