import assert from "node:assert/strict";
import { backgroundCommands } from "../../../helpers/background_command.ts";
import { final, replyJson } from "../../../helpers/scripted_provider.ts";
import { startRig } from "../_rig.ts";

Deno.test("commandRoutes() list the background commands of a branch with their output, and stop them", async () => {
  const { engine, print } = backgroundCommands();
  await using rig = await startRig([replyJson('commands.start("npm run dev")'), final("Started")], { engine });
  const [id, other] = [await rig.conversation(), await rig.conversation()];
  const at = (conversation: string): string => `/api/v1/conversations/${conversation}/commands`;
  assert.deepEqual(await (await rig.ask(at(id))).json(), { items: [] });
  await rig.post(`/api/v1/conversations/${id}/messages`, { request: "x" });
  print("\x1b[32mready\x1b[0m\n10%\r99%\n\n");
  const { items: [found] } = await (await rig.ask(at(id))).json();
  const { id: commandId, startedAt, ...shown } = found;
  assert.deepEqual(shown, { command: "npm run dev", output: "ready\n99%\n\n" });
  assert.equal(typeof startedAt, "number");
  assert.deepEqual(await (await rig.ask(at(other))).json(), { items: [] });
  const absent = await rig.post(`${at(other)}/${commandId}/stop`);
  assert.equal(absent.status, 404);
  assert.match((await absent.json()).detail, /^Cannot find command .*: no running background command of the branch/);
  const stopped = await rig.post(`${at(id)}/${commandId}/stop`);
  assert.deepEqual([stopped.status, (await stopped.json()).id], [200, commandId]);
  for (;;) if ((await (await rig.ask(at(id))).json()).items.length === 0) break;
  assert.equal((await rig.post(`${at(id)}/${commandId}/stop`)).status, 404);
});

Deno.test("commandRoutes() cut long commands, and the beginning of long outputs", async () => {
  const { engine, print } = backgroundCommands();
  const long = "x".repeat(5_000);
  await using rig = await startRig([replyJson(`commands.start("${long}")`), final("Started")], { engine });
  const id = await rig.conversation();
  await rig.post(`/api/v1/conversations/${id}/messages`, { request: "x" });
  print(`${long}😀end`);
  const listed = async (query: string) =>
    (await (await rig.ask(`/api/v1/conversations/${id}/commands${query}`)).json()).items[0];
  const { command, output } = await listed("");
  assert.ok(command.length === 2_000 && command.endsWith("…") && output.length === 1_000, `${command} ${output}`);
  assert.deepEqual([(await listed("?chars=4")).output, (await listed("?chars=0")).output], ["end", ""]);
});
