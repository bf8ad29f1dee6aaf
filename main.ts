import { described, live, realm, shipped } from "./extensions/index.ts";
import { main } from "./src/app.ts";
await main(Deno.args, { shipped, described, live, realm });
