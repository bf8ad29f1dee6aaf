import type { DescribedRow } from "./described_command.ts";

/** Sections of the manual and of the command line's page besides the commands. */
export const MANUAL_FACTS: Readonly<Record<"exits" | "variables" | "files", readonly DescribedRow[]>> = {
  exits: [
    { term: "0", about: "an answer; what was asked for is done" },
    { term: "1", about: "the query failed or ran out; a check found a fault; nothing was found" },
    { term: "2", about: "a flag, an argument or an input cannot be used" },
    {
      term: "3",
      about:
        "a setting is missing or wrong, there is no provider, the database cannot be used, or an answer not stored",
    },
    { term: "130", about: "cancelled" },
    { term: "141", about: "nobody reads the output any more" },
  ],
  variables: [
    { term: "VIS_HOME", about: "folder of settings, keys, database and extensions; ~/.vis by default" },
    { term: "VIS_BASE_URL", about: "an OpenAI-compatible server, with its /v1" },
    { term: "VIS_API_KEY", about: "its key; the usual names of providers' keys hold too, such as ANTHROPIC_API_KEY" },
    { term: "VIS_MODEL", about: "the model, or provider/model" },
    { term: "VIS_PROVIDER", about: "the only provider to use, or demo" },
    { term: "VIS_DB", about: "the database file, or :memory:" },
    { term: "VIS_TOKEN", about: "the bearer token of vis serve" },
    { term: "VIS_TELEGRAM_TOKEN", about: "the token of the bot of vis telegram" },
    { term: "VIS_PROFILE", about: "locked: the locked-down profile of vis serve and vis telegram" },
    { term: "VIS_LOG", about: "debug, info, warn or error: log lines as JSON on stderr" },
    { term: "NO_COLOR", about: "no colours where it is not empty; without a terminal there are none anyway" },
  ],
  files: [
    { term: "$VIS_HOME/config.jsonc", about: "settings; vis config schema describes them" },
    { term: ".vis/config.jsonc", about: "harmless settings of a workspace" },
    { term: "$VIS_HOME/auth.json", about: "keys of providers, for their owner alone" },
    { term: "$VIS_HOME/vis.db", about: "conversations, variables and logs" },
    { term: "$VIS_HOME/extensions", about: "the user's own extensions" },
  ],
};
