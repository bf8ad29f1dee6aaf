/** Stores states until it is killed, and prints each stored version. */
import { openStore } from "../../src/persistence/open_store.ts";

const [path = "", branchId = ""] = Deno.args;
const store = await openStore({ path });
const place = { namespace: "test.a", branchId };
for (let n = 1;; n++) {
  await store.states.put(place, { key: "k", value: { n, text: `${n} `.repeat(3000) } });
  console.log(n);
}
