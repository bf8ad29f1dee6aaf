import { z } from "zod";
import { unfitField } from "../response/problem.ts";

/** Names the parameters of a request that have no effect here. */
const IGNORED_HEADER = "x-vis-ignored";

const MAX_NAMED = 50;
const penalty = z.number().min(-2).max(2).nullish();
const tokens = z.number().int().min(1).nullish();

/** Parameters of the protocol without an effect here, with the values that OpenAI accepts. */
const IGNORED = z.object({
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  max_tokens: tokens,
  max_completion_tokens: tokens,
  max_output_tokens: tokens,
  presence_penalty: penalty,
  frequency_penalty: penalty,
  logprobs: z.boolean().nullish(),
  top_logprobs: z.number().int().min(0).max(20).nullish(),
  stop: z.union([z.string(), z.array(z.string()).max(4)]).nullish(),
  seed: z.number().int().nullish(),
  logit_bias: z.record(z.string(), z.number()).nullish(),
  store: z.boolean().nullish(),
});

/** The header that names what a request contains without an effect; none if there is nothing. Throws `Problem` for
 * values that OpenAI refuses as well. `known` are the parameters that have an effect. */
export function ignoredParameters(
  body: Readonly<Record<string, unknown>>,
  known: Readonly<Record<string, unknown>>,
): Readonly<Record<string, string>> {
  const { error } = IGNORED.safeParse(body);
  const [issue] = error?.issues ?? [];
  const path = issue?.path.map(String).join(".") ?? "";
  if (issue) throw unfitField(path, `Cannot use ${path}: ${issue.message}`);
  const names = Object.keys(body).filter((name) => !(name in known) && hasEffectElsewhere(name, body[name]));
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
  { tools, functions, tool_choice: choice, function_call: call }: {
    readonly tools?: readonly unknown[] | null | undefined;
    readonly functions?: readonly unknown[] | null | undefined;
    readonly tool_choice?: unknown;
    readonly function_call?: unknown;
  },
): void {
  for (const [field, offered, chosen] of [["tools", tools, choice], ["functions", functions, call]] as const) {
    if ((offered?.length ?? 0) === 0 || chosen === "none") continue;
    throw unfitField(field, `Cannot call ${field} of the client: the agent runs its own code`);
  }
}
