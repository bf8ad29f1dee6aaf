import { z } from "zod";
import { ExtensionSchema } from "../../schemas/extension_schema.ts";

const count = z.number().int().min(0);

const key = z.object({
  provider: z.string(),
  title: z.string(),
  need: z.enum(["required", "optional", "device-login"]),
  from: z.string().describe('A variable, auth.json, or ""'),
  shown: z.string().describe("The last characters of the key, masked"),
  fix: z.string(),
});

const provider = z.object({
  name: z.string(),
  title: z.string(),
  protocol: z.string(),
  baseUrl: z.string(),
  model: z.string().nullable(),
  root: z.boolean().describe("Whether queries use it now"),
  key,
  reach: z.object({ ok: z.boolean(), found: z.string() }).nullable().describe("Null if it was not checked"),
});

const model = z.object({
  name: z.string(),
  contextTokens: z.number().nullable(),
  price: z.object({ input: z.number(), output: z.number(), cached: z.number(), cacheWrite: z.number().optional() })
    .nullable().describe("US dollars per million tokens"),
  reasoning: z.boolean(),
  images: z.boolean(),
  known: z.boolean(),
  root: z.boolean(),
});

const setting = z.object({
  key: z.string(),
  value: z.unknown(),
  layer: z.enum(["default", "user", "project", "environment", "flags"]),
  where: z.string().describe('A path, a variable or a flag; "" for a default'),
  doc: z.string(),
  type: z.string(),
  project: z.boolean().describe("Whether the file of a workspace may set it"),
  layers: z.array(z.object({ layer: z.string(), where: z.string(), value: z.unknown() })),
});

const server = z.object({
  command: z.string().optional(),
  args: z.array(z.string()).optional(),
  url: z.string().optional(),
}).loose().describe("A server of the Model Context Protocol, as in the settings");

const change = z.object({
  key: z.string(),
  path: z.string(),
  value: z.unknown(),
  changed: z.boolean(),
  overruled: z.string().describe('What overrides the setting; "" if nothing does'),
});

const trust = z.object({
  path: z.string(),
  hash: z.string(),
  trusted: z.boolean(),
  files: z.array(z.object({ path: z.string(), bytes: count })),
  extensions: z.array(z.object({
    namespace: z.string(),
    version: z.string(),
    requires: z.array(z.string()),
    allow: z.array(z.string()),
  })),
});

const folder = z.object({ folder: z.string() });

/** Output of commands about the setup of this machine. */
const approval = z.object({
  id: z.string(),
  tenant: z.string().describe("Whose conversations it concerns"),
  workspace: z.string(),
  conversationId: z.string().nullable().describe("The conversation to which it is limited"),
  extension: z.string().describe("Namespace"),
  scope: z.string().describe("What is allowed, as a phrase"),
  at: z.string().describe("ISO 8601"),
});

export const setupOutputs = {
  "mcp add": server.extend({ name: z.string() }),
  "mcp list": z.record(z.string(), server).describe("Servers by name"),
  "mcp remove": z.object({ name: z.string(), path: z.string().describe("The settings file") }),
  "approvals list": z.array(approval),
  "approvals remove": z.array(approval),
  "providers": z.object({
    providers: z.array(provider),
    problem: z.string().describe('Why no query can run; "" if one can'),
    notes: z.array(z.string()),
  }),
  "models": z.array(z.object({
    provider: z.string(),
    source: z.enum(["service", "data", "config"]),
    detail: z.string(),
    models: z.array(model),
  })),
  "auth status": z.array(key),
  "config list": z.array(setting),
  "config get": z.unknown().describe("The value of the setting"),
  "config explain": setting,
  "config set": change,
  "config unset": change,
  "config path": z.object({ path: z.string() }),
  "config schema": z.looseObject({}).describe("A JSON Schema"),
  "config trust": z.object({
    path: z.string(),
    sha256: z.string(),
    trusted: z.boolean(),
    keys: z.array(z.object({ key: z.string(), value: z.unknown() })),
  }).nullable(),
  "extensions list": z.array(ExtensionSchema),
  "extensions show": ExtensionSchema.extend({ text: z.string().describe("What the model reads about it") }),
  "extensions check": z.array(z.object({ what: z.string(), ok: z.boolean(), found: z.string() })),
  "extensions new": folder,
  "extensions add": folder,
  "extensions remove": folder,
  "extensions trust": z.array(trust),
  "doctor": z.array(z.object({
    name: z.string(),
    state: z.enum(["ok", "warn", "fail", "off"]).describe("off: not set up, which is not a fault"),
    found: z.string(),
    fix: z.string().describe('Suggested fix; "" if none is needed'),
  })),
  "version": z.object({
    vis: z.string(),
    deno: z.string(),
    v8: z.string(),
    compiled: z.boolean(),
    target: z.string(),
  }),
  "error": z.object({ error: z.object({ code: count.describe("The exit code"), message: z.string() }) }).describe(
    "Printed by any command that fails",
  ),
} as const;
