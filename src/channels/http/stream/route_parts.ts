import type { HttpParts } from "../routing/http_parts.ts";
import type { Runs } from "./runs.ts";

/** Dependencies of routes that run queries or check whether one runs. */
export interface RouteParts {
  readonly parts: HttpParts;
  readonly runs: Runs;
}
