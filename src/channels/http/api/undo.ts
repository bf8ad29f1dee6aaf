import { Hono } from "hono";
import { BusyError } from "../../../domain/errors.ts";
import { undoCuts } from "../../../domain/undo.ts";
import { describeIn } from "../request/describe.ts";
import type { Env } from "../request/env.ts";
import { inConversation } from "../request/in_conversation.ts";
import { validJson } from "../request/valid.ts";
import { Problem } from "../response/problem.ts";
import * as schema from "./schemas.ts";

const NONE = "Cannot undo: this server records no file changes";
const describe = describeIn("conversations");

/** The latest file changes of a conversation, and undoing them. */
export const undo = new Hono<Env>();

undo.get(
  "/undo",
  describe("previewUndo", "Show the latest file changes that can be undone, those of one query", {
    200: schema.UndoPreviewSchema,
  }),
  inConversation,
  async (c) => {
    const { conversations, undo } = c.env.parts;
    const cuts = undo ? await undoCuts(conversations, c.var.conversation) : {};
    const { error = null, changes = [], files = [], kept = [] } =
      await undo?.(c.var.conversation, { dryRun: true, ...cuts }) ?? { error: NONE };
    return c.json(schema.UndoPreviewSchema.parse({ changes, files, kept, fault: error }));
  },
);

undo.post(
  "/undo",
  describe(
    "undo",
    "Undo file changes, except in files that others changed since; those that are undone already are skipped",
    {
      scope: "write",
      200: schema.UndoSchema,
      errors: [409],
    },
  ),
  validJson(schema.UndoBody),
  inConversation,
  async (c) => {
    const { conversation } = c.var;
    const { conversationId } = conversation;
    const running = await c.env.parts.conversations.records.running(conversationId);
    if (running !== null) throw new BusyError(`Conversation is busy: ${conversationId}`);
    const { changes: wanted } = c.req.valid("json");
    const { conversations, undo } = c.env.parts;
    const cuts = undo ? await undoCuts(conversations, conversation) : {};
    const report = await undo?.(conversation, { changes: wanted.join(","), ...cuts });
    if (!report) throw new Problem(NONE, { kind: "not-found" });
    const { error, changes = [], files = [], kept = [] } = report;
    if (error !== undefined) throw new Problem(error, { kind: "changed", status: 409 });
    return c.json(schema.UndoSchema.parse({ changes, files, kept }));
  },
);
