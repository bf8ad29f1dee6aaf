import { ConfigError, UsageError } from "../../../domain/errors.ts";
import { nearestName } from "../../../domain/kit/names.ts";
import type { Session } from "../../channel.ts";
import { chatKey, type ChatPlace } from "../inbound/incoming.ts";
import { RichText } from "../text/rich_text.ts";
import type { BotParts } from "./bot_parts.ts";

const SHOWN = 40;
/** Selects the configured model. */
const DEFAULT = "default";

/** `/model` and `/model NAME`. Part of a name is enough if only one model matches. Rejects with `UsageError`, and with
 * `ConfigError` for a model that cannot be used. */
export async function chooseModel(
  asked: string,
  { chat, parts }: { readonly chat: ChatPlace; readonly parts: BotParts },
): Promise<RichText> {
  const key = chatKey(chat);
  if (asked === "") return await listed((await parts.inbox.chat(key)).model, parts);
  if (parts.models === null) throw new UsageError("Cannot change the model: the operator of this bot has fixed it");
  const name = chosen(asked, await parts.models());
  const told = await parts.sessions.use(name, (session) => Promise.resolve(named(session)));
  await parts.inbox.setChat(key, { ...await parts.inbox.chat(key), model: name });
  return new RichText().add(`From the next message on: ${told}`);
}

/** Null for the configured model. If a provider lists no names, the given one is tried. */
function chosen(asked: string, names: readonly string[]): string | null {
  if (names.includes(asked)) return asked;
  if (asked.toLowerCase() === DEFAULT) return null;
  if (names.length === 0) return asked;
  const similar = names.filter((name) => name.toLowerCase().includes(asked.toLowerCase()));
  if (similar.length === 1) return similar[0] ?? asked;
  if (similar.length > 1) {
    const more = similar.length > SHOWN ? `\nand ${similar.length - SHOWN} more` : "";
    throw new UsageError(`Cannot use ${asked}: several models match:\n${similar.slice(0, SHOWN).join("\n")}${more}`);
  }
  const near = nearestName(asked, names);
  throw new UsageError(
    `Cannot use ${asked}: unknown model; ${near ? `did you mean ${near}?` : "/model lists them"}`,
  );
}

/** Names as code, so that a tap copies one. */
async function listed(model: string | null, { sessions, models }: BotParts): Promise<RichText> {
  const present = await sessions.use(model, (session) => Promise.resolve(session)).catch((error: unknown) => {
    if (error instanceof ConfigError) return error; // another one can still be chosen
    throw error;
  });
  const said = present instanceof Error ? `⚠️ ${present.message}` : `This chat uses ${named(present)}.`;
  const text = new RichText().add(said);
  const names = await models?.() ?? [];
  for (const name of names.slice(0, SHOWN)) {
    text.add("\n").add(name, [{ type: "code" }]);
    if (!(present instanceof Error) && [present.model, `${present.provider}/${present.model}`].includes(name)) {
      text.add("  ←");
    }
  }
  if (names.length > SHOWN) text.add(`\nand ${names.length - SHOWN} more: /model and a part of the name`);
  return model === null || models === null ? text : text.add(`\n/model ${DEFAULT}: the configured model`);
}

function named({ model, provider }: Pick<Session, "model" | "provider">): string {
  return `${model} of ${provider}`;
}
