import { z } from "zod";

/** `latest.json` of a release: what `vis update` reads first. */
export const ReleaseIndex = z.object({
  version: z.string().regex(/^\d+\.\d+\.\d+[\w.-]*$/),
  archives: z.array(z.object({
    target: z.string(),
    /** A file in the same folder. */
    name: z.string().regex(/^vis-[\w.-]+$/),
    bytes: z.number().int().positive(),
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
  })),
  /** The whole CHANGELOG. */
  changelog: z.string(),
});
