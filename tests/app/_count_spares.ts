/** Opens a session on the configuration in a folder and prints how many children it keeps ready, and leaves. */
import { join } from "node:path";
import { openSession } from "../../src/app/open_session.ts";
import { until } from "../helpers/sandbox.ts";

const [folder = ""] = Deno.args;

function children(): number {
  return Array.from(Deno.readDirSync("/proc")).filter(({ name }) => {
    try {
      return Number(/^PPid:\s+(\d+)/m.exec(Deno.readTextFileSync(`/proc/${name}/status`))?.[1]) === Deno.pid;
    } catch {
      return false;
    }
  }).length;
}

const request = { cwd: folder, db: join(folder, "x.db"), provider: "demo" };
const session = await openSession(request, { env: { VIS_HOME: folder }, shipped: {}, described: {} });
await until(() => children() > 0);
const kept = children();
await session.close();
console.log(`${kept} spare, then ${children()}`);
