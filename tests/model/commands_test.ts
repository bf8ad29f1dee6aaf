import assert from "node:assert/strict";
import { join } from "node:path";
import git from "../../extensions/git/mod.ts";
import shell from "../../extensions/shell/mod.ts";
import { AskedPrograms } from "../../src/processes/approved/approved_programs.ts";
import { type EngineOptions, startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";
import { missing, type Place, place } from "../processes/_place.ts";

const ignore = missing !== "";
const DONE = replyJson([], { final: "It is done." });

function options({ wall, workspace, root }: Place): EngineOptions {
  return {
    workspace,
    path: join(root, "vis.db"),
    extensions: [shell],
    spawn: (folder, argv, options) => wall.spawn(folder, argv, options),
    programWalls: () => wall.walls(),
  };
}

Deno.test("the prompt states the walls of commands as they are in this run", { ignore }, async () => {
  const open = Deno.makeTempDirSync();
  const path = `/usr/bin:${open}:/no/such/folder`;
  for (const network of [false, true]) {
    await place(async (at) => {
      await using engine = await startEngine([DONE], options(at));
      await engine.ask("x");
      const { loopback } = await at.wall.walls();
      const none = `${loopback ? "reach their own localhost" : "have no network"}; network and write ask the user.`;
      const expected = network ? "reach any host; write asks the user." : none;
      const prompt = engine.provider.requests[0]?.texts.join("\n") ?? "";
      assert.ok(prompt.includes(expected), prompt);
      assert.ok(prompt.includes(`Not in PATH: ${open} (--add-dir).`), prompt);
      assert.match(prompt, /Commands \(bash\) change cwd and \$TMPDIR,/);
    }, { network, env: { PATH: path } });
  }
  Deno.removeSync(open);
});

Deno.test(
  "the prompt names no function of shell and git in the home folder, where no command may run",
  { ignore },
  async () => {
    await place(async (at) => {
      const listed = async (home: string): Promise<readonly string[]> => {
        const walled = new AskedPrograms({
          wall: at.wall,
          mode: "ask",
          vouches: () => false,
          env: { HOME: home },
          visHome: null,
        });
        const extensions = [shell, git];
        const programWalls: EngineOptions["programWalls"] = (paths) => walled.walls(paths);
        await using engine = await startEngine([DONE], { ...options(at), extensions, programWalls });
        await engine.ask("x");
        const prompt = engine.provider.requests[0]?.texts.join("\n") ?? "";
        return ["## shell", "## git"].filter((heading) => prompt.includes(heading));
      };
      assert.deepEqual(await listed(at.root), ["## shell", "## git"]);
      assert.deepEqual(await listed(at.workspace), []);
    });
  },
);

Deno.test("a refusal in an output names the setting that would allow it", { ignore }, async () => {
  await place(async (at) => {
    await using engine = await startEngine([
      replyJson([
        `(await shell.run("cat ${at.outside}/secret")).hint`,
        `(await shell.run("echo 'connect: Operation not permitted' >&2")).hint`,
        `(await shell.start("echo EACCES: denied", {waitMs: 20000, until: "denied"})).hint`,
        `"hint" in await shell.run("ls")`,
      ]),
      DONE,
    ], options(at));
    await engine.ask("x");
    const [file = "", network = "", started = "", none = ""] = engine.events.flatMap((event) =>
      event.type === "block_finished" ? [event.result.preview] : []
    );
    for (const hint of [file, started]) assert.match(hint, /write in cwd and \$TMPDIR only.*readFolders/);
    assert.match(network, /\{network: true\} asks the user/);
    assert.equal(none, "false");
  });
});

Deno.test("doc() explains how long a started command runs, and a run that ended is reported", { ignore }, async () => {
  await place(async (at) => {
    const start = replyJson('const s = await shell.start("echo ready; sleep 907.3", {until: "ready", waitMs: 20000})');
    const once = await startEngine([start, DONE], { ...options(at), oneRequest: true });
    const { notes, answer } = await once.ask("Start it");
    await once.close();
    assert.equal(answer, "It is done.");
    assert.match(
      notes.join(),
      /(?:^|,)Ended with this run: echo ready; sleep 907\.3 \(.* in interactive mode .*vis serve/,
    );
    assert.match(shell.symbols.find(({ name }) => name === "start")?.doc ?? "", /in vis run until its request ends/);

    await using kept = await startEngine([DONE, start, DONE], options(at));
    await kept.ask("Does it run?");
    assert.match(kept.context(0), /Ended with this run: echo ready; sleep 907\.3/);
    assert.deepEqual((await kept.ask("Start it again")).notes, ["started echo ready; sleep 907.3"]);
  });
});
