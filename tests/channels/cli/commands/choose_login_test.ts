import assert from "node:assert/strict";
import { chooseLogin } from "../../../../src/channels/cli/commands/auth.ts";
import { UsageError } from "../../../../src/domain/errors.ts";
import type { LoginChoice } from "../../../../src/domain/admin_reports.ts";
import { fakeIo } from "../_fakes.ts";

const CHOICES: readonly LoginChoice[] = [
  { name: "ollama", title: "Ollama at 127.0.0.1:11434, 3 models", need: "optional" },
  { name: "zai", title: "Z.ai", need: "required" },
  { name: "zai-coding", title: "Z.ai \x1bcoding plan", need: "required" },
  { name: "github-copilot", title: "GitHub Copilot", need: "device-login" },
];

function answering(...answers: string[]) {
  return fakeIo({ askLine: () => Promise.resolve(answers.shift() ?? assert.fail("asked once too often")) });
}

Deno.test("chooseLogin() takes a number, a name and the beginning of one", async () => {
  for (
    const [answer, name] of [["1", "ollama"], ["zai", "zai"], ["GitHub", "github-copilot"], ["zai-", "zai-coding"]]
  ) {
    assert.equal((await chooseLogin(CHOICES, answering(answer ?? ""))).name, name);
  }
});

Deno.test("chooseLogin() shows the choices, and asks again after an invalid one", async () => {
  const io = answering("0", "", "2");
  assert.equal((await chooseLogin(CHOICES, io)).name, "zai");
  assert.equal(
    io.err,
    [
      "Which provider do you want to use?\n",
      "  1  ollama          Ollama at 127.0.0.1:11434, 3 models (no key needed)",
      "  2  zai             Z.ai",
      "  3  zai-coding      Z.ai \\u001bcoding plan",
      "  4  github-copilot  GitHub Copilot (in the browser)\n",
      "vis: none or several providers have this number or name: 0\n",
    ].join("\n"),
  );
  await assert.rejects(chooseLogin(CHOICES, answering("9", "git hub", "za")), UsageError);
});
