import assert from "node:assert/strict";
import { join } from "node:path";
import { completionScript } from "../../../../src/channels/cli/completion.ts";

/** Completes a line in a real bash. Its program answers with the given text and records its arguments. */
async function bash(words: readonly string[], answer: string): Promise<{ replies: string[]; asked: string[] }> {
  const folder = await Deno.makeTempDir({ prefix: "vis-completion-" });
  try {
    const program = join(folder, "vis");
    await Deno.writeTextFile(join(folder, "answer"), answer);
    await Deno.writeTextFile(
      program,
      `#!/bin/sh\nfor word in "$@"; do printf '%s\\n' "$word"; done > '${folder}/asked'\ncat '${folder}/answer'\n`,
      { mode: 0o700 },
    );
    await Deno.writeTextFile(join(folder, "script"), completionScript("bash"));
    await Deno.writeTextFile(join(folder, "a file.txt"), "");
    await Deno.mkdir(join(folder, "a folder"));
    const line = `set -u; source ./script; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); ` +
      `_vis ./vis; for reply in "\${COMPREPLY[@]}"; do printf '%s\\n' "$reply"; done`;
    const { success, stdout, stderr } = await new Deno.Command("bash", {
      args: ["--norc", "-c", line, "bash", "vis", ...words],
      cwd: folder,
      stdin: "null",
    }).output();
    assert.ok(success, new TextDecoder().decode(stderr));
    assert.equal(new TextDecoder().decode(stderr), "");
    const asked = (await Deno.readTextFile(join(folder, "asked"))).trimEnd().split("\n");
    return { replies: new TextDecoder().decode(stdout).split("\n").slice(0, -1), asked };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("completionScript() makes a real bash ask the program and take its candidates", async () => {
  const { replies, asked } = await bash(["run", "--mo"], ":none\n--model\tmodel to use\n--more\t\n");
  assert.deepEqual(asked, ["__complete", "--", "run", "--mo"]);
  assert.deepEqual(replies, ["--model", "--more"]);
  assert.deepEqual((await bash(["run", "x y", ""], ":none\n")).asked, ["__complete", "--", "run", "x y"]);
});

Deno.test("completionScript() joins words that bash splits at = and :", async () => {
  const output = await bash(["run", "--output", "=", "j"], ":none\n--output=json\t\n--output=jsonl\t\n");
  assert.deepEqual(output.asked, ["__complete", "--", "run", "--output=j"]);
  assert.deepEqual(output.replies, ["json", "jsonl"]);
  const model = await bash(["run", "--model", "qwen3", ":", "8"], ":none\nqwen3:8b\tollama\n");
  assert.deepEqual(model.asked, ["__complete", "--", "run", "--model", "qwen3:8"]);
  assert.deepEqual(model.replies, ["8b"]);
  const open = await bash(["run", "--output", "="], ":none\n--output=text\t\n");
  assert.deepEqual([open.asked.at(-1), open.replies], ["--output=", ["text"]]);
});

Deno.test("completionScript() lets bash add files or folders", async () => {
  assert.deepEqual((await bash(["run", "--context", "a "], ":files\n")).replies.sort(), ["a file.txt", "a folder"]);
  assert.deepEqual((await bash(["run", "--cwd", "a "], ":folders\n")).replies, ["a folder"]);
});

Deno.test("completionScript() prints nothing if the program prints nothing", async () => {
  assert.deepEqual((await bash(["run", "x"], "")).replies, []);
});

Deno.test("completionScript() has every shell ask in the same way", () => {
  const asks = {
    bash: /"\$1" __complete -- /,
    zsh: /"\$\{words\[1\]\}" __complete -- /,
    fish: /\$before\[1\] __complete -- /,
  };
  for (const [shell, ask] of Object.entries(asks)) {
    const script = completionScript(shell === "bash" || shell === "zsh" ? shell : "fish");
    assert.match(script, ask, shell);
    for (const directive of [":files", ":folders"]) {
      if (shell !== "bash") assert.ok(script.includes(directive), `${shell} ${directive}`);
    }
  }
  assert.match(completionScript("zsh"), /^#compdef vis\n/);
  assert.match(completionScript("bash"), /^complete -F _vis vis$/m);
  assert.match(completionScript("fish"), /^complete -c vis -f -a /m);
});
