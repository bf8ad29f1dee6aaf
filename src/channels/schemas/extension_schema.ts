import { z } from "zod";

export const ExtensionSchema = z.object({
  name: z.string(),
  place: z.enum(["shipped", "home", "project", "path"]),
  state: z.enum(["loaded", "untrusted", "misconfigured", "off", "skipped"]),
  version: z.string(),
  alias: z.string(),
  doc: z.string(),
  path: z.string(),
  reason: z.string().describe('Why it is not loaded; "" if it is'),
  commands: z.array(z.string()),
});
