import { messageOf } from "../domain/errors.ts";
import { reviewRequest, type ReviewTarget, reviewTarget } from "../domain/query/stored_query.ts";
import {
  CHANGES_LABEL,
  type InputVariable,
  isReviewedChanges,
  readInputVariables,
} from "../environment/input_variables.ts";
import type { Log } from "../logging/log.ts";
import type { LargeTextStore } from "../persistence/store.ts";

export interface ChangesReader {
  readonly readChanges?: (workspace: string, target: ReviewTarget, signal?: AbortSignal) => Promise<string | null>;
  /** Resolves with the name under which git finds the target. */
  readonly targetOf?: (workspace: string, name: string) => Promise<string>;
}

export async function checkedReview(
  request: string,
  { workspace, targetOf }: Pick<ChangesReader, "targetOf"> & { readonly workspace: string },
): Promise<string> {
  const target = reviewTarget(request);
  if (target === null || !targetOf) return request;
  const found = reviewRequest(await targetOf(workspace, target.name));
  return `${found}${request.slice(reviewRequest(target.name).length)}`;
}

/** Adds the changes under review as the variable `context`, unless the caller has set this variable or Vis cannot read
 * the changes. */
export async function withReviewedChanges(
  given: readonly InputVariable[],
  { request, workspace, store, readChanges, signal, log }: ChangesReader & {
    readonly request: string;
    readonly workspace: string;
    readonly store: LargeTextStore;
    readonly signal?: AbortSignal;
    readonly log: Log;
  },
): Promise<readonly InputVariable[]> {
  const target = reviewTarget(request);
  if (target === null || !readChanges) return given;
  const others = given.filter(({ image }) => !isReviewedChanges(image));
  if (others.some(({ image }) => image.name === "context")) return given;
  const text = await readChanges(workspace, target, signal).catch((error: unknown) => {
    log.info("changes_not_read", { error: messageOf(error) });
    return null;
  });
  if (text === null) return given;
  const pieces = ReadableStream.from([new TextEncoder().encode(text === "" ? "No change\n" : text)]);
  const source = { label: CHANGES_LABEL, json: false, encoding: "utf-8" as const, pieces };
  return [...others, await readInputVariables("context", { source, store })];
}
