import assert from "node:assert/strict";
import { foundByWords, Handbook } from "../../src/domain/handbook.ts";

Deno.test("Handbook takes a page apart at its headings, with the anchors of GitHub", () => {
  const page =
    "# Title\n\nIntro.\n\n## One & `two`\n\n```sh\n# no heading\n```\n\n### Deep\n\n## One & `two`\n\nAgain.\n";
  const handbook = new Handbook({ "guide/a": page, "guide/b": "No heading.\n" });
  assert.deepEqual(handbook.sections.map(({ place, name }) => [place, name]), [
    ["guide/a", "Title"],
    ["guide/a#one--two", "Title: One & `two`"],
    ["guide/a#deep", "Title: Deep"],
    ["guide/a#one--two-1", "Title: One & `two`"],
    ["guide/b", "guide/b"],
  ]);
  assert.equal(handbook.at("guide/a"), page);
  assert.equal(handbook.at("guide/a#one--two"), "## One & `two`\n\n```sh\n# no heading\n```");
  for (const place of ["guide/c", "guide/a#three", "toString", ""]) assert.equal(handbook.at(place), null);
});

Deno.test("foundByWords() answers the questions of new users in the first three sections", async () => {
  const { sections } = await Handbook.open();
  const cases: Readonly<Record<string, string>> = {
    "undo a change": "guide/conversations#undo-changes",
    "allow network": "guide/questions#how-do-i-allow-npm-install-or-another-command-with-network",
    "use my own model": "guide/questions#how-do-i-use-a-local-model-such-as-ollama",
    "change the model": "guide/questions#which-model-should-i-use-and-how-do-i-change-the-model",
    "where is my data":
      "guide/questions#where-does-vis-store-my-data-and-conversations-and-does-it-send-my-code-or-telemetry-anywhere",
    "run on a server": "guide/questions#how-do-i-run-vis-on-a-server-or-with-docker",
    "resume a conversation": "guide/questions#how-do-i-continue-a-conversation-or-clear-it-and-start-over",
    "cost limit": "guide/providers#cost-limits",
    "telegram bot": "serve/telegram",
    "plan without changes": "guide/files-and-commands#plan-without-changes",
    "write an extension": "guide/questions#how-do-i-write-an-extension-or-my-own-custom-slash-command",
    "approve commands": "guide/approvals",
    "review my code": "guide/review",
  };
  for (const [words, place] of Object.entries(cases)) {
    const found = foundByWords(words, sections).slice(0, 3).map((one) => one.place);
    assert.ok(found.includes(place), `${words}: ${found.join(", ")}`);
  }
});

Deno.test("foundByWords() answers the ordinary words of new users in the first section", async () => {
  const { sections } = await Handbook.open();
  const cases: Readonly<Record<string, string>> = {
    "stop a running command": "how-do-i-steer-stop-or-cancel-a-running-request-or-command",
    "cancel a request": "how-do-i-steer-stop-or-cancel-a-running-request-or-command",
    "stuck": "how-do-i-steer-stop-or-cancel-a-running-request-or-command",
    "how much context is left": "how-much-context-is-left",
    "context window full": "how-much-context-is-left",
    "undo a commit": "how-do-i-undo-a-commit",
    "yolo": "how-do-i-stop-vis-from-asking-for-permission",
    "dangerously skip permissions": "how-do-i-stop-vis-from-asking-for-permission",
    "auto accept edits": "how-do-i-stop-vis-from-asking-for-permission",
    "claude subscription": "can-i-use-my-claude-or-chatgpt-subscription-and-is-vis-free-and-open-source",
    "login with claude pro": "can-i-use-my-claude-or-chatgpt-subscription-and-is-vis-free-and-open-source",
    "is it free": "can-i-use-my-claude-or-chatgpt-subscription-and-is-vis-free-and-open-source",
    "switch model": "which-model-should-i-use-and-how-do-i-change-the-model",
    "how do I quit": "how-do-i-quit-and-which-keyboard-shortcuts-and-slash-commands-exist",
    "keyboard shortcuts": "how-do-i-quit-and-which-keyboard-shortcuts-and-slash-commands-exist",
    "multi line input": "how-do-i-quit-and-which-keyboard-shortcuts-and-slash-commands-exist",
    "subagents": "does-vis-have-subagents-or-a-memory",
    "offline": "how-do-i-use-a-local-model-such-as-ollama",
    "new conversation": "how-do-i-continue-a-conversation-or-clear-it-and-start-over",
    "reads my .env": "is-vis-safe-and-does-it-read-my-secrets-such-as-env",
    "is it safe": "is-vis-safe-and-does-it-read-my-secrets-such-as-env",
    "rename conversation": "how-do-i-search-rename-share-or-export-old-conversations-chats",
    "search old chats": "how-do-i-search-rename-share-or-export-old-conversations-chats",
    "create a pull request": "how-do-i-commit-changes-with-git-with-hooks-or-create-a-pull-request",
    "how much did it cost": "how-do-i-limit-and-see-the-cost",
    "commit changes": "how-do-i-commit-changes-with-git-with-hooks-or-create-a-pull-request",
    "log in": "how-do-i-log-in-and-log-out",
    "why is it slow": "why-is-vis-slow",
    "is it open source": "can-i-use-my-claude-or-chatgpt-subscription-and-is-vis-free-and-open-source",
    "does it send my code":
      "where-does-vis-store-my-data-and-conversations-and-does-it-send-my-code-or-telemetry-anywhere",
    "privacy": "where-does-vis-store-my-data-and-conversations-and-does-it-send-my-code-or-telemetry-anywhere",
    "schedule a task": "how-do-i-use-vis-in-ci-such-as-github-actions-or-on-a-schedule",
    "dark mode": "how-do-i-change-the-theme-dark-mode-the-keybindings-or-the-editor",
    "agents.md": "how-do-i-give-instructions-for-a-project-agentsmd-such-as-the-language-of-answers",
    "use with docker": "how-do-i-run-vis-on-a-server-or-with-docker",
    "worktree": "how-do-i-run-several-requests-in-parallel-such-as-in-a-git-worktree",
    "changelog": "how-do-i-update-upgrade-vis-and-where-is-the-changelog",
    "steer": "how-do-i-steer-stop-or-cancel-a-running-request-or-command",
    "allow npm install always": "how-do-i-allow-npm-install-or-another-command-with-network",
    "serve on the network": "how-do-i-use-vis-on-my-phone-or-serve-the-page-on-the-network",
    "on my phone": "how-do-i-use-vis-on-my-phone-or-serve-the-page-on-the-network",
    "phone tablet": "how-do-i-use-vis-on-my-phone-or-serve-the-page-on-the-network",
    "edit two repositories": "how-do-i-add-a-second-folder-or-files-outside-the-workspace",
    "add a second folder": "how-do-i-add-a-second-folder-or-files-outside-the-workspace",
  };
  for (const [words, question] of Object.entries(cases)) {
    assert.equal(foundByWords(words, sections)[0]?.place, `guide/questions#${question}`, words);
  }
});

Deno.test("foundByWords() answers whole questions of new users in the first section", async () => {
  const { sections } = await Handbook.open();
  const cases: Readonly<Record<string, string>> = {
    "how do I redo": "guide/conversations#undo-changes",
    "is my data sent anywhere": "guide/questions#where-does-vis-store-my-data",
    "where are my conversations stored": "guide/questions#where-does-vis-store-my-data",
    "how do I run tests": "guide/questions#how-do-i-run-tests",
    "why was my command refused": "guide/questions#how-do-i-run-tests",
    "what is a step": "guide/questions#what-is-a-step",
    "what is the sandbox": "guide/questions#what-is-a-step",
    "how do I give more steps": "guide/questions#how-do-i-give-a-request-more-steps",
    "the answer is wrong, how do I retry": "guide/questions#how-do-i-retry",
    "how do I attach an image": "guide/interactive#images",
    "how do I use vis in a script": "guide/scripts",
    "how do I review a pull request": "guide/review#choose-the-changes",
    "how do I write my own command": "guide/questions#how-do-i-write-an-extension-or-my-own-custom-slash-command",
    "why does vis ask for approval": "guide/approvals",
    "how do I report a bug": "guide/troubleshooting#test-this-machine",
    "what does vis doctor do": "guide/troubleshooting#test-this-machine",
    "windows": "guide/questions#how-do-i-use-vis-on-windows",
    "export as pdf": "guide/questions#how-do-i-search-rename-share-or-export",
    "upgrade": "guide/questions#how-do-i-update-upgrade-vis",
    "list all models": "guide/providers#models-and-prices",
    "custom slash command": "guide/questions#how-do-i-write-an-extension",
    "write my own slash command": "guide/questions#how-do-i-write-an-extension",
    "clear the conversation": "guide/questions#how-do-i-continue-a-conversation",
    "see the diff": "guide/questions#how-do-i-see-the-diff",
    "disable sandbox": "guide/questions#what-is-a-step",
    "hooks before commit": "guide/questions#how-do-i-commit-changes",
    "how can I go back to yesterday's chat": "guide/questions#how-do-i-continue-a-conversation",
    "resume a session": "guide/questions#how-do-i-continue-a-conversation",
    "run it every night": "guide/questions#how-do-i-use-vis-in-ci",
    "switch off the internet": "guide/questions#how-do-i-allow-npm-install",
    "change the port of the web page": "guide/questions#how-do-i-use-vis-on-my-phone",
    "read a web page": "guide/questions#how-do-i-add-an-mcp-server-or-search-the-web",
    "delete everything": "guide/questions#how-do-i-delete-conversations",
    "where is the log file": "guide/troubleshooting",
    "hide thinking": "guide/questions#how-do-i-change-the-theme",
    "make it answer in German": "guide/questions#how-do-i-give-instructions",
    "tab completion bash": "guide/scripts#tab-completion",
    "openrouter": "guide/start#sign-in",
    "can vis commit to git": "guide/questions#how-do-i-commit-changes",
    "how do I change the language of the answers": "guide/questions#how-do-i-give-instructions",
  };
  for (const [words, place] of Object.entries(cases)) {
    const [first] = foundByWords(words, sections);
    assert.ok(first?.place.startsWith(place), `${words}: ${first?.place}`);
  }
});

Deno.test("foundByWords() finds the section for a question in the pages for users", async () => {
  const { sections } = await Handbook.open();
  const cases: Readonly<Record<string, string>> = {
    "undo changes of a request": "guide/conversations#undo-changes",
    "exit code": "guide/scripts#exit-codes",
    "telegram bot": "serve/telegram",
    "cost limit": "guide/providers#cost-limits",
    "restore backup": "serve/deploy/scale#backup-and-restore",
  };
  for (const [words, place] of Object.entries(cases)) {
    const found = foundByWords(words, sections).slice(0, 4).map((one) => one.place);
    assert.ok(found.includes(place), `${words}: ${found.join(", ")}`);
  }
  assert.equal(foundByWords("proxy", sections)[0]?.place, "guide/providers#use-an-http-proxy");
  assert.equal(foundByWords("fork", sections)[0]?.place, "guide/conversations#branches");
  const fn = { name: "fs.exitCode", doc: "The exit code of a file." };
  assert.equal(foundByWords("exit code file", [...sections, fn])[0], fn);
  assert.deepEqual(foundByWords("zzqqxx", sections), []);
});
