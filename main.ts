import { described, live, realm, settings, shipped } from "./extensions/index.ts";
import { main } from "./src/app.ts";
await main(Deno.args, { shipped, described, live, realm, settings });
