import assert from "node:assert/strict";
import { SCHEDULING, SCHEDULING_VALUES } from "./_attacks.ts";
import { missing, place } from "./_place.ts";

const ignore = missing !== "";

Deno.test("LinuxWall.spawn() lets no program change how another one is scheduled", { ignore }, async () => {
  await place(async ({ wall, workspace }) => {
    const stop = new AbortController(), begun = Promise.withResolvers<string>();
    // The program has the rights of the other one, so the kernel alone would allow the change.
    const victim = wall.spawn(workspace, ["/bin/sh", "-c", "echo $$; exec sleep 60"], {
      signal: stop.signal,
      onOutput: (_output, bytes) => begun.resolve(new TextDecoder().decode(bytes).trim()),
    });
    const pid = await begun.promise;
    const calls = SCHEDULING.map(([name, made]) => `print "${name}\\n" if syscall(${made(Number(pid))}) == 0;`);
    const { code, stdout } = await wall.spawn(workspace, [
      "/usr/bin/perl",
      "-e",
      `${SCHEDULING_VALUES} ${calls.join(" ")}`,
    ]);
    stop.abort();
    await victim.catch(() => {});
    assert.deepEqual([code, stdout], [0, ""]);
  });
});

Deno.test("LinuxWall.spawn() lets a program change how it is scheduled itself", { ignore }, async () => {
  await place(async ({ wall, workspace }) => {
    const calls = SCHEDULING.map(([name, made]) => `print "${name}: $!\\n" if syscall(${made(0)}) != 0;`);
    const code = `${SCHEDULING_VALUES} ${calls.join(" ")} print "end"`;
    const { stdout } = await wall.spawn(workspace, ["/usr/bin/perl", "-e", code]);
    assert.equal(stdout, "end");
  });
});
