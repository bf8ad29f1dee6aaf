import { z } from "zod";
import type { Frozen } from "./frozen.ts";

/** The versions of this program and its runtime. */
export const VersionFactsSchema = z.object({
  vis: z.string(),
  deno: z.string(),
  v8: z.string(),
  compiled: z.boolean(),
  target: z.string(),
});

export type VersionFacts = Frozen<z.infer<typeof VersionFactsSchema>>;
