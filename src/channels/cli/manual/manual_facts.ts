import type { DescribedRow } from "./described_command.ts";

/** Sections of the manual and of the command line's page besides the commands. */
export const MANUAL_FACTS: Readonly<Record<"exits" | "variables" | "files", readonly DescribedRow[]>> = {
  exits: [
    { term: "0", about: "success: there is an answer, or the command did its work" },
    { term: "1", about: "the request failed or reached a limit; a check found a problem; a search found nothing" },
    { term: "2", about: "invalid usage: an option, an argument or an input cannot be used" },
    {
      term: "3",
      about:
        "a setting is missing or wrong, no provider is available, the database cannot be used, or an answer could not be stored",
    },
    { term: "130", about: "cancelled" },
    { term: "141", about: "the reader of the output has closed it" },
  ],
  variables: [
    { term: "VIS_HOME", about: "folder of settings, keys, database and extensions (default: ~/.vis)" },
    { term: "VIS_BASE_URL", about: "URL of an OpenAI-compatible server, including /v1" },
    {
      term: "VIS_API_KEY",
      about: "key of that server; the usual variables of providers are read too, such as ANTHROPIC_API_KEY",
    },
    { term: "VIS_MODEL", about: "model, or provider/model" },
    { term: "VIS_PROVIDER", about: "use only this provider, or demo" },
    { term: "VIS_DB", about: "database file, or :memory:" },
    { term: "VIS_DATABASE_URL", about: "PostgreSQL database: postgres://user@host:5432/name" },
    { term: "VIS_DATABASE_PASSWORD", about: "its password; VIS_DATABASE_PASSWORD_FILE names a file that holds it" },
    { term: "VIS_TOKEN", about: "bearer token of vis serve" },
    { term: "VIS_TELEGRAM_TOKEN", about: "bot token of vis telegram" },
    { term: "VIS_PROFILE", about: "profile of vis serve and vis telegram: open or locked" },
    { term: "VIS_LOG", about: "debug, info, warn or error: write log lines of this level as JSON to stderr" },
    { term: "NO_COLOR", about: "any value disables colours; without a terminal there are none" },
  ],
  files: [
    { term: "$VIS_HOME/config.jsonc", about: "settings; vis config schema prints their JSON Schema" },
    { term: ".vis/config.jsonc", about: "harmless settings of a workspace" },
    { term: "$VIS_HOME/auth.json", about: "API keys of providers, readable only by their owner" },
    { term: "$VIS_HOME/vis.db", about: "conversations, variables and logs" },
    { term: "$VIS_HOME/extensions", about: "the user's own extensions" },
  ],
};
