import { z } from "zod";
import { unfitField } from "../response/problem.ts";

/** Names the parameters of a request that have no effect here. */
const IGNORED_HEADER = "x-vis-ignored";

const MAX_NAMED = 50;
const penalty = z.number().min(-2).max(2).nullish();
const tokens = z.number().int().min(1).nullish();

/** Parameters of the protocol without an effect here, with the values that OpenAI accepts. */
const ignored = {
  store: z.boolean().nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  max_tokens: tokens,
  max_completion_tokens: tokens,
  max_output_tokens: tokens,
  presence_penalty: penalty,
  frequency_penalty: penalty,
  stop: z.union([z.string(), z.array(z.string()).max(4)]).nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.number().int().min(0).max(20).nullish(),
  seed: z.number().int().nullish(),
  logit_bias: z.record(z.string(), z.number()).nullish(),
};

/** What clients of both APIs send. */
export const OpenAiBody = z.looseObject({
  ...ignored,
  stream: z.boolean().nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish().describe("conversation: id of the conversation to continue"),
  tools: z.array(z.unknown()).nullish(),
  tool_choice: z.unknown().optional(),
});

/** The header that names what a request contains without an effect; none if there is nothing. `known` are the
 * parameters of its API. */
export function ignoredParameters(
  body: z.infer<typeof OpenAiBody>,
  known: Readonly<Record<string, unknown>>,
): Readonly<Record<string, string>> {
  const names = Object.keys(body).filter((name) =>
    (name in ignored || !(name in known)) && hasEffectElsewhere(name, body[name])
  );
  const shown = names.filter((name) => /^\w{1,64}$/.test(name)).slice(0, MAX_NAMED);
  return shown.length === 0 ? {} : { [IGNORED_HEADER]: shown.join(", ") };
}

/** Whether another server would do something that this one does not. */
function hasEffectElsewhere(name: string, value: unknown): boolean {
  if (value === null || value === undefined || value === false) return name === "store" && value === false;
  return !(name === "store" || (Array.isArray(value) && value.length === 0));
}

/** Throws `Problem` if the client offers tools that the model may call. */
export function refuseTools(
  { tools, functions, tool_choice: choice, function_call: call }: z.infer<typeof OpenAiBody>,
): void {
  for (const [field, offered, chosen] of [["tools", tools, choice], ["functions", functions, call]] as const) {
    if (!Array.isArray(offered) || offered.length === 0 || chosen === "none") continue;
    throw unfitField(field, `Cannot call ${field} of the client: the agent runs its own code`);
  }
}
