import { z } from "zod";
import { KeptRuleSchema } from "../../../domain/query/query_schemas.ts";
import {
  ConfigTrustSchema,
  ExtensionCheckSchema,
  ExtensionSchema,
  ExtensionTrustSchema,
  KeyReportSchema,
  ModelsReportSchema,
  ProvidersReportSchema,
  SettingChangeSchema,
  SettingFactsSchema,
  VersionFactsSchema,
} from "../../../domain/reports.ts";

const count = z.number().int().min(0);

const server = z.object({
  command: z.string().optional(),
  args: z.array(z.string()).optional(),
  url: z.string().optional(),
}).loose().describe("A server of the Model Context Protocol, as in the settings");

const folder = z.object({ folder: z.string() });

/** Output of commands about the setup of this machine. */
export const setupOutputs = {
  "mcp add": server.extend({ name: z.string() }),
  "mcp list": z.record(z.string(), server).describe("Servers by name"),
  "mcp remove": z.object({ name: z.string(), path: z.string().describe("The settings file") }),
  "approvals list": z.array(KeptRuleSchema),
  "approvals remove": z.array(KeptRuleSchema),
  "providers": ProvidersReportSchema,
  "models": z.array(ModelsReportSchema),
  "auth status": z.array(KeyReportSchema),
  "config list": z.array(SettingFactsSchema),
  "config get": z.unknown().describe("The value of the setting"),
  "config explain": SettingFactsSchema,
  "config set": SettingChangeSchema,
  "config unset": SettingChangeSchema,
  "config path": z.object({ path: z.string() }),
  "config schema": z.looseObject({}).describe("A JSON Schema"),
  "config trust": ConfigTrustSchema.nullable(),
  "extensions list": z.array(ExtensionSchema),
  "extensions show": ExtensionSchema.extend({ text: z.string().describe("What the model reads about it") }),
  "extensions check": z.array(ExtensionCheckSchema),
  "extensions test": z.array(ExtensionCheckSchema),
  "extensions new": folder,
  "extensions add": folder,
  "extensions remove": folder,
  "extensions trust": z.array(ExtensionTrustSchema),
  "doctor": z.array(z.object({
    name: z.string(),
    state: z.enum(["ok", "warn", "fail", "off"]).describe("off: not set up, which is not a fault"),
    found: z.string(),
    fix: z.string().describe('Suggested fix; "" if none is needed'),
  })),
  "version": VersionFactsSchema,
  "error": z.object({ error: z.object({ code: count.describe("The exit code"), message: z.string() }) }).describe(
    "Printed by any command that fails",
  ),
} as const;
