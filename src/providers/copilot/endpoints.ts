import { ConfigError } from "../../domain/errors.ts";

/** Headers that the service expects from a client with every request. */
export const COPILOT_HEADERS: Readonly<Record<string, string>> = {
  "user-agent": "GitHubCopilotChat/0.35.0",
  "editor-version": "vscode/1.107.0",
  "editor-plugin-version": "copilot-chat/0.35.0",
  "copilot-integration-id": "vscode-chat",
};

/** The addresses of one GitHub instance. */
export interface CopilotEndpoints {
  readonly deviceCode: string;
  readonly accessToken: string;
  readonly exchange: string;
  /** The address of the models, unless a token names another one. */
  readonly api: string;
}

/** Endpoints of github.com, or of an enterprise's own domain. Throws `ConfigError` for an invalid domain. */
export function copilotEndpoints(domain: string): CopilotEndpoints {
  if (!/^[a-z0-9-]+(\.[a-z0-9-]+)+$/i.test(domain)) {
    throw new ConfigError(`Cannot use the GitHub domain "${domain}": it must look like github.com or company.ghe.com`);
  }
  return {
    deviceCode: `https://${domain}/login/device/code`,
    accessToken: `https://${domain}/login/oauth/access_token`,
    exchange: `https://api.${domain}/copilot_internal/v2/token`,
    api: domain === "github.com" ? "https://api.githubcopilot.com" : `https://copilot-api.${domain}`,
  };
}
