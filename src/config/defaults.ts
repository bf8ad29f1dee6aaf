import type { Config } from "./schema.ts";

/** The schema's result for an empty file, written out so that a start without a file need not load the schema. A test
 * keeps the two equal. */
export const DEFAULT_CONFIG: Config = {
  "model": null,
  "provider": null,
  "providers": [],
  "localServers": true,
  "baseUrl": null,
  "retry": {
    "patienceMs": 300000,
  },
  "budget": {
    "iterations": 4,
    "ceiling": null,
    "costUsd": null,
    "tokens": null,
    "wallMs": null,
    "subcalls": null,
    "depth": 1,
  },
  "sandbox": {
    "require": [],
    "memoryMiB": 512,
    "launcher": [],
    "live": 32,
    "idleMs": 600000,
    "timeoutMs": 120000,
    "timeoutMinMs": 3000,
    "timeoutMaxMs": 1800000,
  },
  "context": {
    "journalChars": 24000,
    "previewChars": 24000,
    "stdoutChars": 24000,
    "stderrChars": 24000,
    "errorChars": 2000,
    "thinkingChars": 4000,
    "attempts": 12,
    "indexRows": 150,
    "indexChars": 12000,
    "inlineChars": 120,
    "attemptsChars": 1500,
    "notesChars": 3000,
  },
  "server": {
    "host": "127.0.0.1",
    "port": 7357,
    "hosts": [],
    "tokenFile": null,
    "tokensFile": null,
    "jwt": {
      "issuer": null,
      "audience": null,
      "jwks": null,
      "scopeClaim": "scope",
    },
    "proxies": [],
    "workspaces": [],
    "requestsPerMinute": 6000,
    "burst": 500,
    "quota": {
      "queriesPerDay": null,
      "costUsdPerDay": null,
      "concurrent": null,
    },
    "bodyMiB": 32,
    "shutdownMs": 10000,
  },
  "telegram": {
    "allow": [],
    "apiUrl": "https://api.telegram.org",
    "webhookUrl": null,
    "shutdownMs": 10000,
  },
  "title": {
    "model": null,
  },
  "autoForget": {
    "afterQueries": null,
  },
  "hooks": {
    "request": [],
    "edit": [],
    "end": [],
    "network": false,
  },
  "update": {
    "from": null,
    "publicKey": null,
  },
  "approvals": "ask",
  "extensions": {
    "allow": null,
    "deny": [],
    "config": {},
  },
};
