import assert from "node:assert/strict";
import type { RunCommand } from "../../../src/channels/tui/user_commands.ts";
import { runUserCommand } from "../../../src/app/terminal/open_screen.ts";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import { until } from "../../helpers/until.ts";
import { withScreen } from "./_rig.ts";

const ENTER = "\r", ESC = "\x1b", CTRL_C = "\x03";

Deno.test("a command after ! runs with the rights of the user, and the next request can read its output", async () => {
  const folder = await Deno.makeTempDir({ prefix: "vis-command-" });
  await Deno.writeTextFile(`${folder}/notes.txt`, "kept here\n");
  const options = { session: { workspace: folder }, parts: { runCommand: runUserCommand } };
  try {
    await withScreen([replyJson("[ran_1, ran_2].join('|')"), final("I see")], options, async ({ screen, engine }) => {
      screen.type(`!cat notes.txt${ENTER}`);
      await screen.until("the next request can read this as ran_1");
      assert.match(screen.screen(), /\$ cat notes\.txt\s+kept here/);
      screen.type(`! echo wrong >&2; exit 3${ENTER}`);
      await screen.until("exit code 3 · the next request can read this as ran_2");
      screen.type(`What happened?${ENTER}`);
      await screen.until("I see");
      const [first] = engine.provider.requests;
      assert.match(first?.texts.join("\n") ?? "", /variable ran_1 holds[^]*the output of a command of the user/);
      assert.match(engine.context(1), /\$ cat notes\.txt\\?n?\s*kept here[^]*exit 3[^]*wrong[^]*exit code 3/);
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("the output of a command goes to the next request of its own conversation, a plan too", async () => {
  const parts = { runCommand: () => Promise.resolve("") };
  const replies = [final("A plan"), final("Elsewhere"), final("Back again"), final("Nothing more")];
  await withScreen(replies, { parts }, async ({ screen, engine }) => {
    const asked = async (text: string, answer: string): Promise<string> => {
      screen.type(`${text}${ENTER}`);
      await screen.until(answer);
      await screen.until((now) => !now.includes("Esc cancels"));
      return engine.provider.requests.at(-1)?.texts.join("\n").match(/variable ran_\d/g)?.join() ?? "";
    };
    screen.type(`!ls one${ENTER}`);
    await screen.until("read this as ran_1");
    assert.equal(await asked("/plan split it", "A plan"), "variable ran_1");
    screen.type(`!ls two${ENTER}`);
    await screen.until("read this as ran_2");
    screen.type(`/new${ENTER}`);
    await screen.until((text) => !text.includes("ran_2"));
    assert.equal(await asked("something else", "Elsewhere"), "");
    screen.type(`/conversations${ENTER}`);
    await screen.until("split it");
    screen.type("split");
    await screen.until("[split] it");
    screen.type(ENTER);
    await screen.until("read this as ran_2");
    assert.equal(await asked("continue", "Back again"), "variable ran_2");
    assert.equal(await asked("and then", "Nothing more"), "");
  });
});

Deno.test("the output of a command loses its escape sequences and overwritten lines, on the screen and for the model", async () => {
  const output = "\x1b[32mok\x1b[0m 1 test\r\n10 %\r90 %\rdone\n";
  const runCommand: RunCommand = async (_, { onOutput, signal }) => {
    onOutput(output);
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    return "";
  };
  await withScreen([final("I see")], { parts: { runCommand } }, async ({ screen, engine }) => {
    screen.type(`!deno test${ENTER}`);
    const running = await screen.until("Esc ends it");
    assert.match(running, /^ok 1 test\s*\ndone\s*\n[^]*Esc ends it · done/m);
    screen.type(ESC);
    await screen.until("read this as ran_1");
    screen.type(`What happened?${ENTER}`);
    await screen.until("I see");
    const [branch] = await engine.conversations.list({ limit: 1 });
    const [version] = await engine.conversations.records.versions(branch!, { name: "ran_1", newest: 1 });
    assert.equal(version?.shown?.value, "$ deno test\nok 1 test\ndone\n\n(ended by the user)");
  });
});

Deno.test("the output of a command waits for the next request if a request does not begin", async () => {
  const parts = { runCommand: () => Promise.resolve("") };
  await withScreen([final("Done: yes")], { parts }, async ({ screen, engine }) => {
    const ask = engine.conversations.ask.bind(engine.conversations);
    engine.conversations.ask = () => Promise.reject(new Error("Cannot write: the disk is full"));
    screen.type(`!ls${ENTER}`);
    await screen.until("read this as ran_1");
    screen.type(`Go${ENTER}`);
    await screen.until("the disk is full");
    engine.conversations.ask = ask;
    screen.type(ENTER);
    await screen.until("Done: yes");
    assert.match(engine.provider.requests[0]?.texts.join("\n") ?? "", /variable ran_1 holds/);
  });
});

Deno.test("the footer reads the branch again after a step, after a command of the user, and when the window gets the focus", async () => {
  const gate = Promise.withResolvers<void>();
  let state = "main";
  const parts = {
    runCommand: () => {
      state = "topic";
      return Promise.resolve("");
    },
    gitState: () => Promise.resolve(state),
  };
  const replies = [replyJson("1"), { text: final("Done: yes"), after: gate.promise }];
  await withScreen(replies, { parts, shows: "git main" }, async ({ screen }) => {
    state = "main*";
    screen.type(`Go${ENTER}`);
    await screen.until((text) => text.includes("git main*") && text.includes("Esc cancels"));
    gate.resolve();
    await screen.until("Done: yes");
    screen.type(`!git switch topic${ENTER}`);
    await screen.until("git topic");
    screen.type("\x1b[O");
    state = "topic*";
    screen.type("\x1b[I");
    await screen.until("git topic*");
  });
});

Deno.test("Esc ends a running command, and no other command runs meanwhile", async () => {
  const ran: string[] = [];
  const runCommand = (command: string, { signal }: { readonly signal: AbortSignal }): Promise<string> => {
    ran.push(command);
    return new Promise((resolve) => signal.addEventListener("abort", () => resolve("ended")));
  };
  await withScreen([], { parts: { runCommand } }, async ({ screen }) => {
    screen.type(`!sleep 100${ENTER}`);
    await screen.until("$ sleep 100");
    screen.type(`!ls${ENTER}`);
    await screen.until("A command is running; Esc ends it");
    screen.type(ESC);
    await screen.until("you ended it · the next request can read this as ran_1");
    assert.deepEqual(ran, ["sleep 100"]);
  });
});

Deno.test("a running command shows its time and its last line above the input until it ends", async () => {
  const gate = Promise.withResolvers<string>();
  const runCommand: RunCommand = (_command, { onOutput, signal }) => {
    onOutput("first\nlistening on 3000\n");
    signal.addEventListener("abort", () => onOutput("closing\n"));
    return gate.promise;
  };
  await withScreen([], { parts: { runCommand } }, async ({ screen }) => {
    screen.type(`!npm run dev${ENTER}`);
    await screen.until(/\$ npm run dev · 0 s · Esc ends it · listening on 3000/);
    await screen.until(/\$ npm run dev · 1 s · Esc ends it/);
    screen.type(CTRL_C);
    await screen.until(/\$ npm run dev · \d s · ending · closing[^]*Ending the command; Ctrl-C again quits/);
    gate.resolve("");
    await screen.until(/you ended it · \d s · the next request/);
    assert.doesNotMatch(screen.screen(), /ending/);
  });
});

Deno.test("a command in the background shows its time and last line while no request runs, and the screen says its end", async () => {
  await withScreen([final("Done: started")], {}, async ({ screen, engine }) => {
    const running = {
      id: "1",
      title: "npm run dev",
      startedAt: Date.now(),
      output: "compiled\nready\n",
      stop: () => {},
    };
    let programs = [running];
    engine.conversations.programs = () => programs;
    screen.type(`Start it${ENTER}`);
    await screen.until("Done: started");
    await screen.until(/npm run dev · \d+ s · \/jobs · ready/);
    await screen.until(/npm run dev · [1-9]\d* s/);
    programs = [];
    await screen.until("npm run dev has ended");
    assert.doesNotMatch(screen.screen(), /· \/jobs/);
  });
});

Deno.test("runUserCommand() ends the command with all its processes, those that ignore the request too", async () => {
  const gone = new AbortController();
  let output = "";
  const onOutput = (text: string): void => {
    output += text;
    if (output.includes("begun")) gone.abort();
  };
  const command = "(trap '' TERM; sleep 60) & echo $!; sleep 60 & echo $!; echo begun; wait";
  await runUserCommand(command, { cwd: "/", signal: gone.signal, onOutput });
  const [first, second] = output.split("\n").map(Number);
  for (const pid of [first, second]) {
    await until(() => !new Deno.Command("kill", { args: ["-0", `${pid}`], stderr: "null" }).outputSync().success);
  }
});

Deno.test("/plan makes a plan and explains how to carry it out; without words it explains its use", async () => {
  await withScreen([final("1. Split it")], {}, async ({ screen, engine }) => {
    screen.type(`/plan${ENTER}`);
    await screen.until("Write what to plan: /plan split this module");
    screen.type(`/plan split it${ENTER}`);
    await screen.until("This is a plan. Send go to carry it out");
    assert.match(engine.provider.requests[0]?.texts[0] ?? "", /Make a plan, and change nothing/);
    assert.equal((await engine.conversations.list({ limit: 1 }))[0]?.title, "split it");
  });
});

Deno.test("/review asks for findings in the uncommitted changes, in a commit, and since another branch", async () => {
  await withScreen([final("a.ts:1 is wrong"), final("fine"), final("fine too")], {}, async ({ screen, engine }) => {
    for (
      const [typed, answer] of [["/review", "a.ts:1 is wrong"], ["/review HEAD~1", "fine"], ["/review main", "too"]]
    ) {
      screen.type(`${typed}${ENTER}`);
      await screen.until(answer ?? "");
    }
    const asked = engine.provider.requests.map(({ texts }) => texts.join("\n"));
    assert.ok(asked.every((text) => text.includes("Review, and change nothing")));
    assert.match(asked[0] ?? "", /Review the uncommitted changes/);
    assert.match(asked[1] ?? "", /Review the commit HEAD~1/);
    assert.match(asked[2] ?? "", /since this branch left main/);
  });
});

Deno.test("the screen shows the last 20 lines of a command, and counts the earlier lines", async () => {
  const text = Array.from({ length: 21 }, (_, at) => `line ${at}\n`).join("");
  const runCommand: RunCommand = (_, { onOutput }) => Promise.resolve(onOutput(text)).then(() => "");
  await withScreen([], { parts: { runCommand }, rows: 40 }, async ({ screen }) => {
    screen.type(`!list${ENTER}`);
    const shown = await screen.until("… 1 earlier line (Ctrl-O)");
    assert.match(shown, /line 1\n[^]*line 20/);
  });
});
