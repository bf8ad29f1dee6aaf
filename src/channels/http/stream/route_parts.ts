import type { HttpParts } from "../routing/http_parts.ts";
import type { Runs } from "./runs.ts";

/** What routes that run queries, or ask whether one runs, work with. */
export interface RouteParts {
  readonly parts: HttpParts;
  readonly runs: Runs;
}
