import assert from "node:assert/strict";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import type { Launcher } from "../_launcher.ts";
import { descendants, survivors } from "../helpers/processes.ts";
import { noPty, Pty } from "../helpers/pty.ts";
import { launched } from "../helpers/together.ts";
import { User } from "../helpers/user.ts";

const ENDLESS = replyJson("await new Promise(() => {})");

async function working(user: User): Promise<{ readonly pty: Pty; readonly pid: number }> {
  const pty = new Pty(user, []);
  await pty.until("mock-1");
  pty.type("Work for ever\r");
  await pty.until("running code");
  return { pty, pid: await pty.pid() };
}

/** A vanished terminal may send the signal more than once, also while the work is being stored. */
async function again(pid: number, signal: Deno.Signal): Promise<void> {
  for (const end = performance.now() + 300; performance.now() < end;) {
    await new Promise((resolve) => setTimeout(resolve, 3));
    try {
      Deno.kill(pid, signal);
    } catch {
      return; // The process has ended.
    }
  }
}

export function screenSuite(launcher: Launcher): void {
  if (noPty !== "") {
    return Deno.test({ name: `vis on a terminal (${launcher.name}): ${noPty}`, ignore: true, fn: () => {} });
  }

  launched(launcher, "vis with words on a terminal asks them on the screen", async () => {
    await using user = await User.make(launcher, { reply: [final("It makes 42")] });
    const pty = new Pty(user, ["What", "is", "6", "*", "7?"]);
    await pty.until(/› What is 6 \* 7\?[^]*It makes 42[^]*1 step/);
    pty.type("\x04");
    assert.equal((await pty.ended).code, 0);
  });

  launched(launcher, "lines that were typed before vis took the terminal are sent in order", async () => {
    await using user = await User.make(launcher, { reply: [final("It makes 42"), final("And then 43")] });
    const pty = new Pty(user, []);
    pty.type("What is 6 * 7?\rAnd one more?\r");
    await pty.until(/› What is 6 \* 7\?[^]*It makes 42[^]*› And one more\?[^]*And then 43[^]*1 step/);
    pty.type("\x04");
    assert.equal((await pty.ended).code, 0);
  });

  launched(launcher, "vis on a terminal gives it back when it is told to end, also while it works", async (t) => {
    for (const [signal, code] of [["SIGTERM", 143], ["SIGHUP", 129], ["SIGINT", 130]] as const) {
      await t.step(signal, async () => {
        await using user = await User.make(launcher, { reply: [ENDLESS] });
        const { pty, pid } = await working(user);
        Deno.kill(pid, signal);
        if (signal === "SIGHUP") await again(pid, signal);
        assert.equal((await pty.ended).code, code);
        assert.equal(pty.alternate, false);
        assert.match(pty.screen(), /as it was/);
        assert.ok(pty.raw.lastIndexOf("\x1b[?2004l") > pty.raw.lastIndexOf("\x1b[?2004h"));
        assert.equal((await user.queries()).queries[0]?.reason, "cancelled");
      });
    }
  });

  launched(launcher, "vis ends when its terminal is gone, with all that it started", async () => {
    await using user = await User.make(launcher, { reply: [ENDLESS] });
    const { pty, pid } = await working(user);
    const below = descendants(pid);
    assert.ok(below.length > 0);
    const itself = descendants(Deno.pid).filter((one) => one.pid === pid);
    pty.cut();
    await pty.ended;
    assert.deepEqual(await survivors([...itself, ...below]), []);
    assert.equal((await user.queries()).queries[0]?.reason, "cancelled");
  });

  launched(launcher, "vis run stores what ran when its terminal is gone", async () => {
    await using user = await User.make(launcher, { reply: [ENDLESS] });
    const pty = new Pty(user, ["run", "x"]);
    await pty.until("running code");
    const pid = await pty.pid();
    const below = descendants(pid);
    const itself = descendants(Deno.pid).filter((one) => one.pid === pid);
    pty.cut();
    await pty.ended;
    assert.deepEqual(await survivors([...itself, ...below]), []);
    assert.equal((await user.queries()).queries[0]?.reason, "cancelled");
  });

  launched(launcher, "vis on a terminal says that its database is gone, with the answer", async () => {
    await using user: User = await User.make(launcher, {
      handler: ({ index }) => {
        if (index === 0) Deno.renameSync(user.database, `${user.database}.away`);
        return final("It is here");
      },
    });
    const pty = new Pty(user, []);
    await pty.until("mock-1");
    pty.type("Where is it?\r");
    const screen = await pty.until(/1 step/);
    assert.match(screen, /It is here[^]*Cannot use database[^]*the file was removed or renamed/);
    pty.type("And now?\r");
    await pty.until((text) => text.split("Cannot use database").length > 2);
    pty.type("\x03\x03");
    assert.equal((await pty.ended).code, 0);
  });

  launched(launcher, "vis on a terminal goes to the shell at Ctrl-Z and comes back with what was typed", async () => {
    await using user = await User.make(launcher);
    const pty = new Pty(user, []);
    await pty.until("mock-1");
    pty.type("a draft");
    await pty.until("a draft");
    pty.type("\x1a");
    await pty.until((screen) => !screen.includes("mock-1"));
    assert.equal(pty.alternate, false);
    Deno.kill(await pty.stopped(), "SIGCONT");
    await pty.until("a draft");
    pty.type(" that goes on");
    await pty.until("a draft that goes on");
    pty.type("\x03\x03");
    assert.equal((await pty.ended).code, 0);
    assert.match(pty.screen(), /as it was/);
  });

  launched(launcher, "vis on a terminal follows the size of its window without a key", async () => {
    await using user = await User.make(launcher);
    const pty = new Pty(user, []);
    const rule = (screen: string): number => /^─+$/m.exec(screen)?.[0].length ?? 0;
    await pty.until((screen) => screen.includes("mock-1") && rule(screen) === 100);
    for (const [cols, rows] of [[60, 20], [120, 40]] as const) {
      await pty.resize(cols, rows);
      await pty.until((screen) => rule(screen) === cols && (screen.split("\n")[rows - 1] ?? "").includes("mock-1"));
    }
    pty.type("\x03\x03");
    assert.equal((await pty.ended).code, 0);
    assert.match(pty.screen(), /as it was/);
  });

  launched(launcher, "vis on a terminal without a provider opens with the choice of one", async () => {
    await using user = await User.make(launcher);
    await user.findNoServers();
    const pty = new Pty(user, [], { VIS_BASE_URL: "", VIS_API_KEY: "", VIS_MODEL: "" });
    await pty.until("anthropic");
    pty.type("\x1b");
    await pty.until((screen) => !screen.includes("anthropic") && screen.includes("no provider is configured"));
    pty.type("\x03\x03");
    assert.equal((await pty.ended).code, 0);
    assert.match(pty.screen(), /as it was/);
  });
}
