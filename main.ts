import { shipped } from "./extensions/index.ts";
import { realm } from "./extensions/realm.ts";
import { main } from "./src/app.ts";
await main(Deno.args, { shipped, realm });
