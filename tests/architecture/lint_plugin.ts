import { camelCase } from "./rules/camel_case.ts";
import { envOnlyInApp } from "./rules/env_only_in_app.ts";
import { errorMessage } from "./rules/error_message.ts";
import { noConsole } from "./rules/no_console.ts";
import { noMessageParsing } from "./rules/no_message_parsing.ts";
import { noModuleLet } from "./rules/no_module_let.ts";
import { noPrivateKeyword } from "./rules/no_private_keyword.ts";
import { sqlOnlyInPersistence } from "./rules/sql_only_in_persistence.ts";

const plugin: Deno.lint.Plugin = {
  name: "vis",
  rules: {
    "camel-case": camelCase,
    "sql-only-in-persistence": sqlOnlyInPersistence,
    "env-only-in-app": envOnlyInApp,
    "error-message": errorMessage,
    "no-private-keyword": noPrivateKeyword,
    "no-message-parsing": noMessageParsing,
    "no-module-let": noModuleLet,
    "no-console": noConsole,
  },
};

export default plugin;
