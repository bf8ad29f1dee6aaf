import { fileFault, UsageError } from "../domain/errors.ts";
import { checkImages, type Image, MAX_IMAGE_BYTES, readImage } from "../domain/images.ts";
import { abortable } from "../domain/kit/concurrency.ts";
import { dollarText } from "../domain/kit/text.ts";
import type { ApprovalAnswer, ApprovalQuestion, Approve } from "../domain/query/approval.ts";
import type { ReadingMode } from "../domain/query/outcomes.ts";
import type { Emit } from "../domain/query/query_event.ts";
import type { KeyedRequest } from "../domain/query/stored_query.ts";
import type { VariableImage } from "../domain/query/variable.ts";
import type { NewConversation, NewFork } from "../domain/records/conversations.ts";
import {
  type InputVariable,
  readInputVariables,
  repeatInputVariables,
  type VariableSource,
} from "../environment/input_variables.ts";
import type { Asked, Branch, LargeTextStore } from "../persistence/store.ts";
import type { RequestExtras } from "../prompt/prompt.ts";
import { readingInstructions } from "../prompt/prompt.ts";
import type { ReasoningLevel } from "../providers/provider.ts";
import type { Router } from "../providers/router/router.ts";
import { type ModelRoute, unpricedText } from "../providers/router/routes.ts";
import {
  needsPrice,
  type QueryLimits,
  type QuerySettings,
  unpricedRoute,
  withBudget,
} from "../query/query_settings.ts";

export type AskTarget = Branch | NewFork | Pick<NewConversation, "channel" | "workspace">;

export interface AskOptions extends KeyedRequest {
  readonly signal: AbortSignal;
  readonly emit: Emit;
  readonly showsOutput?: boolean;
  readonly onBranch?: (branch: Branch) => Promise<void> | void;
  readonly approve?: Approve | undefined;
  /** If the channel can ask no user, Vis calls this function with the command-line option that allows the call. */
  readonly onUnasked?: (option: string) => void;
  readonly refuseWhenBusy?: boolean;
  readonly label?: string | undefined;
  readonly images?: readonly Image[] | undefined;
  readonly context?: VariableSource | undefined;
  readonly variables?: Readonly<Record<string, VariableSource>> | undefined;
  readonly given?: readonly VariableImage[];
  readonly instructions?: string | undefined;
  readonly only?: ReadingMode | undefined;
  readonly responseSchema?: unknown;
  readonly askedAs?: Asked | undefined;
  readonly maxIterations?: number | undefined;
  readonly reasoning?: ReasoningLevel | undefined;
  readonly extendsTo?: number | undefined;
  readonly model?: string | undefined;
  /** For `costUsd` and `wallMs`, the lower of this limit and the limit in the settings applies. */
  readonly limits?: Pick<QueryLimits, "costUsd" | "wallMs" | "priced"> | undefined;
}

export const MAX_REQUEST_CHARS = 4_000_000;

export function checkRequest(request: string): void {
  if (request.trim() === "") {
    throw new UsageError("Cannot run the request: its text is empty; write a task or a question");
  }
  if (request.length <= MAX_REQUEST_CHARS) return;
  throw new UsageError(
    `Cannot run the request: it has ${request.length} characters, more than the limit of ${MAX_REQUEST_CHARS}; put the text ` +
      "into a file, and name the file in the request",
  );
}

export function checkPrice(
  { model = null, limits }: {
    readonly model?: string | null | undefined;
    readonly limits: Pick<QueryLimits, "costUsd" | "priced">;
  },
  { routes }: { readonly routes: readonly ModelRoute[] },
): void {
  const refused = needsPrice(limits) ? unpricedRoute(routes, model) : null;
  if (refused === null) return;
  const limit = limits.costUsd === null ? "a daily cost quota" : `a limit of ${dollarText(limits.costUsd)}`;
  throw new UsageError(`Cannot use ${refused.model} with ${limit}: ${unpricedText(refused)}`);
}

export async function checkedExtras(
  { images: given = [], responseSchema }: {
    readonly images?: readonly Image[] | undefined;
    readonly responseSchema?: unknown;
  },
  { routes }: Pick<Router, "routes">,
): Promise<RequestExtras> {
  const images = checkImages(given);
  if (images.length > 0 && !routes.some(({ provider, model }) => provider.capabilities(model).images)) {
    const names = routes.map(({ provider, model }) => `${model} of ${provider.name}`).join(" or ");
    throw new UsageError(
      `Cannot send images: Vis does not know that ${names} accepts images; choose another model, or set ` +
        '"images": true for a model in the settings',
    );
  }
  if (responseSchema === undefined) return { images, answerSchema: null };
  const { AnswerSchema } = await import("../prompt/answer_schema.ts");
  return { images, answerSchema: new AnswerSchema(responseSchema) };
}

export function requestSettings(
  configured: QuerySettings,
  { maxIterations, extendsTo, limits, only, instructions, reasoning }: Pick<
    AskOptions,
    "maxIterations" | "extendsTo" | "limits" | "only" | "instructions" | "reasoning"
  >,
): QuerySettings {
  const given = instructions || configured.instructions;
  return {
    ...(maxIterations ? withBudget(configured, maxIterations) : configured),
    ...(extendsTo && { ceiling: extendsTo, extending: true }),
    ...(reasoning && { reasoning }),
    limits: {
      ...configured.limits,
      costUsd: lower(configured.limits.costUsd, limits?.costUsd),
      wallMs: lower(configured.limits.wallMs, limits?.wallMs),
      priced: limits?.priced ?? false,
    },
    instructions: only === undefined ? given : readingInstructions(given, only),
  };
}

function lower(configured: number | null, wanted: number | null = null): number | null {
  return configured === null || wanted === null ? configured ?? wanted : Math.min(configured, wanted);
}

export async function allInputVariables(
  { given = [], context, variables }: Pick<AskOptions, "given" | "context" | "variables">,
  store: LargeTextStore,
): Promise<readonly InputVariable[]> {
  const sources = Object.entries({ ...(context && { context }), ...variables });
  return await Promise.all([
    ...given.map((image) => repeatInputVariables(image, store)),
    ...sources.map(([name, source]) => readInputVariables(name, { source, store })),
  ]);
}

export async function readImageFile(path: string, name = path): Promise<Image> {
  return readImage(await bytesOf(path, name), name);
}

async function bytesOf(path: string, name: string): Promise<Uint8Array<ArrayBuffer>> {
  try {
    const { size, isFile } = await Deno.stat(path);
    if (!isFile) throw new UsageError(`Cannot use image ${name}: it is not a file; name an image file`);
    if (size > MAX_IMAGE_BYTES) {
      throw new UsageError(
        `Cannot use image ${name}: it has ${size} bytes, more than the limit of ${MAX_IMAGE_BYTES}; make it smaller`,
      );
    }
    return await Deno.readFile(path);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`Cannot use image ${name}: ${fileFault(error)}; name another file`);
  }
}

export class WaitingQuestions {
  readonly #waiting = new Map<string, { readonly question: ApprovalQuestion; answer(given: ApprovalAnswer): void }>();

  readonly approve: Approve = async (question, signal) => {
    const { promise, resolve } = Promise.withResolvers<ApprovalAnswer>();
    this.#waiting.set(question.id, { question, answer: resolve });
    try {
      return await abortable(promise, signal);
    } finally {
      this.#waiting.delete(question.id);
    }
  };

  get all(): readonly ApprovalQuestion[] {
    return Array.from(this.#waiting.values(), ({ question }) => question);
  }

  answer(id: string, given: ApprovalAnswer): boolean {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    waiting?.answer(given);
    return waiting !== undefined;
  }
}
