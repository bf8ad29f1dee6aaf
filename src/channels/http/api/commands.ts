import { type Context, Hono } from "hono";
import type { z } from "zod";
import type { BackgroundProgram } from "../../../domain/admin_reports.ts";
import { shorten } from "../../../domain/kit/text.ts";
import type { Env } from "../http_parts.ts";
import { describeIn, existing, inConversation, validQuery } from "../route.ts";
import * as schema from "./schemas.ts";

const COMMAND_CHARS = 2_000;

const describe = describeIn("commands");

export const commands = new Hono<Env>();

commands.get(
  "/commands",
  describe(
    "listCommands",
    "List the commands of the branch that run in the background of this server, oldest first. If this server runs none and follows a query of another process, the list has the commands of that process",
    {
      200: schema.listOf(schema.BackgroundCommandSchema),
    },
  ),
  validQuery(schema.CommandsQuery),
  inConversation,
  async (c) => {
    const { chars } = c.req.valid("query");
    return c.json({ items: (await programsOf(c)).map((one) => shown(one, chars)) });
  },
);

commands.post(
  "/commands/:commandId/stop",
  describe("stopCommand", "Stop a background command. Vis kills a command that does not end", {
    scope: "write",
    200: schema.BackgroundCommandSchema,
  }),
  validQuery(schema.CommandsQuery),
  inConversation,
  async (c) => {
    const wanted = c.req.param("commandId");
    const program = await existing(
      `command ${wanted.slice(0, 100)}`,
      async () => (await programsOf(c)).find(({ id }) => id === wanted),
      "no running background command of the branch has this id; it may have ended",
    );
    await program.stop();
    return c.json(shown(program, c.req.valid("query").chars));
  },
);

interface RunningProgram extends Omit<BackgroundProgram, "stop"> {
  stop(): void | Promise<boolean>;
}

async function programsOf({ env, var: { conversation } }: Context<Env>): Promise<readonly RunningProgram[]> {
  const { conversations } = env.parts;
  const own = conversations.programs(conversation);
  return own.length > 0 ? own : await conversations.elsewhere.programs(conversation);
}

function shown(
  { id, title, startedAt, output }: RunningProgram,
  chars: number,
): z.infer<typeof schema.BackgroundCommandSchema> {
  const end = output.slice(Math.max(0, output.length - chars)).replace(/^[\udc00-\udfff]/, "");
  return { id, command: shorten(title, COMMAND_CHARS), startedAt, output: end };
}
