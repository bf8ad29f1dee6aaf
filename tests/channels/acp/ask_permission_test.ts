import assert from "node:assert/strict";
import { methods, type RequestPermissionOutcome, type RequestPermissionRequest } from "@agentclientprotocol/sdk";
import { ASKING } from "../../helpers/asking_extension.ts";
import { replyJson } from "../../helpers/scripted_provider.ts";
import { type Editor, FOLDER, textOf, withEditor } from "./_editor.ts";

const REPLIES = [
  replyJson('const said = await asking.open("doors", "open doors\\u001b[2J")'),
  replyJson([], { final: "{{said.allowed}} {{said.reason}}" }),
];
const { session } = methods.agent;

async function prompted({ context, updates }: Editor): Promise<string> {
  const { sessionId } = await context.request(session.new, { cwd: FOLDER, mcpServers: [] });
  await context.request(session.prompt, { sessionId, prompt: [{ type: "text", text: "x" }] });
  return textOf(updates, "agent_message_chunk");
}

async function answered(outcome: RequestPermissionOutcome, asked: RequestPermissionRequest[] = []): Promise<string> {
  let said = "";
  await withEditor(REPLIES, async (editor) => void (said = await prompted(editor)), {
    extensions: [ASKING],
    permit: (request) => (asked.push(request), Promise.resolve(outcome)),
  });
  return said;
}

Deno.test("an editor is asked for permission, with the four answers and texts that control nothing", async () => {
  const asked: RequestPermissionRequest[] = [];
  assert.equal(await answered({ outcome: "selected", optionId: "once" }, asked), "true ");
  const [{ options, toolCall } = assert.fail()] = asked;
  assert.equal(toolCall.title, "Allow Vis to open doors\\u001b[2J?");
  assert.deepEqual(options.map(({ optionId, kind }) => [optionId, kind]), [
    ["once", "allow_once"],
    ["conversation", "allow_always"],
    ["workspace", "allow_always"],
    ["no", "reject_once"],
  ]);
});

Deno.test("an editor offers no lasting answer to an approval that is asked every time", async () => {
  const asked: RequestPermissionRequest[] = [];
  const [ask = "", ...rest] = REPLIES;
  const replies = [ask.replace('\\\\u001b[2J\\"', '\\", \\"\\", false'), ...rest];
  let said = "";
  await withEditor(replies, async (editor) => void (said = await prompted(editor)), {
    extensions: [ASKING],
    permit: (request) => (asked.push(request), Promise.resolve({ outcome: "selected", optionId: "workspace" })),
  });
  assert.equal(said, "false the user said no");
  assert.deepEqual(asked[0]?.options.map(({ optionId }) => optionId), ["once", "no"]);
});

Deno.test("an editor shows the change of a question as a diff", async () => {
  const asked: RequestPermissionRequest[] = [];
  const replies = [
    replyJson(
      'const said = await asking.open("doors", "change a", "", false, "--- a\\n+++ a\\n@@ -1 +1 @@\\n-x\\n+```\\n")',
    ),
    REPLIES[1] ?? "",
  ];
  await withEditor(replies, async (editor) => void await prompted(editor), {
    extensions: [ASKING],
    permit: (request) => (asked.push(request), Promise.resolve({ outcome: "selected", optionId: "no" })),
  });
  const [{ toolCall } = assert.fail()] = asked;
  assert.equal(toolCall.title, "Allow Vis to change a?");
  const text = "````diff\n--- a\n+++ a\n@@ -1 +1 @@\n-x\n+```\n````";
  assert.deepEqual(toolCall.content, [{ type: "content", content: { type: "text", text } }]);
});

Deno.test("a choice that the editor does not make is not allowed", async () => {
  assert.equal(await answered({ outcome: "selected", optionId: "no" }), "false the user said no");
  assert.equal(await answered({ outcome: "selected", optionId: "everything" }), "false the user said no");
  assert.equal(await answered({ outcome: "cancelled" }), "false the user said no");
});

Deno.test("an editor that knows no such request allows nothing, and cancelling does not wait for it", async () => {
  await withEditor(REPLIES, async (editor) => {
    assert.match(await prompted(editor), /^false Vis could not ask the user \(.*[Mm]ethod/);
  }, { extensions: [ASKING] });
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  await withEditor(REPLIES, async ({ context }) => {
    const { sessionId } = await context.request(session.new, { cwd: FOLDER, mcpServers: [] });
    const prompt = context.request(session.prompt, { sessionId, prompt: [{ type: "text", text: "x" }] });
    await asked;
    await context.notify(session.cancel, { sessionId });
    assert.equal((await prompt).stopReason, "cancelled");
  }, { extensions: [ASKING], permit: () => (ask(), new Promise(() => {})) });
});
