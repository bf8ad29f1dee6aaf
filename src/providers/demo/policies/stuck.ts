import { ProviderError } from "../../../domain/errors.ts";

/** The context lacks what a policy needs: the query must fail visibly. */
export function stuck(why: string): ProviderError {
  return new ProviderError(`Cannot continue the demo: ${why}`, { code: "server", retryable: false });
}
