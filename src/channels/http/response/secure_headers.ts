import type { MiddlewareHandler } from "hono";
import { secureHeaders } from "hono/secure-headers";

const NONE = ["'none'"];
const OWN = ["'self'"];

/** Sent with every response. The page loads nothing from other origins and runs only its own script files. */
export const SECURE_HEADERS: MiddlewareHandler = secureHeaders({
  contentSecurityPolicy: {
    defaultSrc: NONE,
    scriptSrc: OWN,
    styleSrc: OWN,
    imgSrc: ["'self'", "data:"],
    connectSrc: OWN,
    baseUri: NONE,
    formAction: NONE,
    frameAncestors: NONE,
    requireTrustedTypesFor: ["'script'"],
    trustedTypes: NONE,
  },
  permissionsPolicy: { camera: [], geolocation: [], microphone: [] },
  xFrameOptions: "DENY",
  strictTransportSecurity: false, // a proxy with TLS decides this for its own name
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
  removePoweredBy: false,
});
