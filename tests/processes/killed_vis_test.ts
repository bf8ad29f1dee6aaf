import { killedVisSuite } from "./_killed_vis.ts";
import { mayMake } from "./_place.ts";

killedVisSuite({ name: "from source", ignore: !mayMake, launcher: () => Promise.resolve(undefined) });
