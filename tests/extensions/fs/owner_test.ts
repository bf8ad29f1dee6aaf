import assert from "node:assert/strict";
import { isAliveOwner, thisOwner } from "../../../extensions/fs/owner.ts";
import { runPermitted } from "../../helpers/run_permitted.ts";

const LINUX = Deno.build.os === "linux";

Deno.test("isAliveOwner() this process is, one that ended is not, whether or not its start is known", async () => {
  assert.equal(isAliveOwner(thisOwner()), true);
  assert.equal(isAliveOwner(`${Deno.pid}:`), true);
  const child = new Deno.Command("sleep", { args: ["60"] }).spawn();
  assert.equal(isAliveOwner(`${child.pid}:`), true);
  child.kill("SIGKILL");
  await child.status;
  for (const start of ["", "12345"]) assert.equal(isAliveOwner(`${child.pid}:${start}`), false);
  for (const mark of ["", ":", "0:", "-1:", "x:1"]) assert.equal(isAliveOwner(mark), false, mark);
});

Deno.test({
  name: "isAliveOwner() another process with the number of one that is gone is not it",
  ignore: !LINUX,
  fn: () => {
    const [pid, start] = thisOwner().split(":");
    assert.match(start ?? "", /^\d+$/);
    assert.equal(isAliveOwner(`${pid}:${Number(start) - 1}`), false);
  },
});

Deno.test({
  name: "thisOwner() tells when it began with the permissions that the program has",
  ignore: !LINUX,
  fn: async () => {
    const module = import.meta.resolve("../../../extensions/fs/owner.ts");
    const script =
      `import { isAliveOwner, thisOwner } from "${module}"; console.log(isAliveOwner(thisOwner()), thisOwner());`;
    const { stdout, stderr } = await runPermitted(script);
    assert.match(stdout, /^true \d+:\d+\n$/, stderr);
  },
});
