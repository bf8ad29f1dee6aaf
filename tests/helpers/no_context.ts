import { ConfigSchema } from "../../src/config/schema.ts";
import type { ContextCaps, ContextParts } from "../../src/prompt/context_message.ts";

export const DEFAULT_CAPS: ContextCaps = ConfigSchema.parse({}).context;

export const NO_CONTEXT: ContextParts = {
  iteration: 1,
  last: false,
  budget: 4,
  failures: 0,
  changed: "",
  notes: [],
  handover: null,
  thinking: "",
  thoughts: 0,
  earlier: "",
  journal: [],
  journalIteration: null,
  attempts: [],
  index: "",
  nudges: [],
  caps: DEFAULT_CAPS,
};
