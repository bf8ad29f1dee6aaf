import { OAuthClientFlowError, OAuthError, RegistrationRejectedError } from "@modelcontextprotocol/client";
import { reasonOf } from "@vis/extension";
import { LoginError } from "./login_error.ts";

/** Why a login failed. Texts of authorization servers are left out: they may repeat codes and tokens. */
export function loginFault(error: unknown): string {
  if (error instanceof LoginError) return reasonOf(error);
  if (error instanceof RegistrationRejectedError) {
    return `its authorization server refused to register Vis (status ${error.status})`;
  }
  if (error instanceof OAuthError) {
    return `its authorization server refused${/^\w{1,60}$/.test(error.code) ? `: ${error.code}` : ""}`;
  }
  const kind = error instanceof Error ? error.name : "unknown";
  if (error instanceof OAuthClientFlowError) return `its authorization server is not the one that it names (${kind})`;
  return `its authorization server cannot be used (${kind})`;
}
