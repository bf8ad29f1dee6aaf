/** The tenant of everything that names no other one. */
export const DEFAULT_TENANT = "default";

export const TENANT_NAME = /^[A-Za-z0-9](?:[\w.@-]{0,62}\w)?$/;
export const TENANT_RULE = "It must have 1 to 64 letters, digits and _ . @ -, and begin and end with a letter or digit";
