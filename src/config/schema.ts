import { z } from "zod";
import { isSecureUrl } from "../domain/kit/addresses.ts";
import { SECRET_PATTERNS } from "../domain/kit/names.ts";
import { ShownLimits } from "./shown_limits.ts";

const positive = z.int().positive();
const usd = z.number().min(0);

const ModelSchema = z.strictObject({
  name: z.string().trim().min(1).describe("Name of the model as the service knows it"),
  contextTokens: positive.optional().describe("Tokens of context, request and reply together"),
  price: z.strictObject({
    input: usd.describe("US dollars per million tokens of input"),
    output: usd.describe("US dollars per million tokens of output"),
    cached: usd.optional().describe("US dollars per million tokens of input from a cache, else as input"),
    cacheWrite: usd.optional().describe("US dollars per million tokens of input that is written to a cache"),
  }).optional().describe("What the model costs"),
  reasoning: z.boolean().optional().describe("Whether the model has its own reasoning, with levels"),
  images: z.boolean().optional().describe("Whether the model takes images"),
  alternatingRoles: z.boolean().optional().describe("Whether the model has no system role or wants alternating roles"),
  speed: z.number().optional().describe("Rank of the model by speed, higher is faster"),
  intelligence: z.number().optional().describe("Rank of the model by intelligence, higher is better"),
});

/** One provider of `providers[]`: the first model of the first provider is the root, the others are fallbacks. */
const ProviderSchema = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9][\w.-]*$/, "must be a name of letters, digits, dots and dashes")
    .describe("Name that --provider and provider/model use"),
  preset: z.string().min(1).optional().describe(
    "Preset that gives what is left out, by default the one of the same name",
  ),
  protocol: z.enum(["openai-chat", "openai-responses", "anthropic", "google"]).optional()
    .describe("Wire format of the service"),
  baseUrl: z.url({ protocol: /^https?$/ }).optional().describe("Address of the service with its version path"),
  keyEnv: z.string().regex(/^[A-Za-z_]\w*$/, "must be the name of a variable").optional()
    .describe("Variable of the environment that holds the key; the key itself has no place in this file"),
  models: z.array(ModelSchema).default([]).describe("Models in order of preference, with what is known better here"),
  headers: z.record(z.string(), z.string()).optional().describe("Headers to send besides those of the protocol"),
  firstTokenMs: positive.optional().describe(
    "How long the service may send nothing before the first word of a reply, in milliseconds (default: 2 minutes, 30 for a server on this machine)",
  ),
  silenceMs: positive.optional().describe(
    "How long the service may send nothing in the middle of a reply, in milliseconds (default: 60 seconds)",
  ),
  rateLimit: z.strictObject({
    requests: positive.optional().describe("Most requests within the interval"),
    tokens: positive.optional().describe("Most tokens within the interval, input and output"),
    perMs: positive.default(60_000).describe("Length of the interval in milliseconds"),
  }).optional().describe("How often the service may be asked; beyond it the next model serves, or the call waits"),
});

const network = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]);
const commands = z.array(z.string().min(1)).default([]);
const name = z.string().trim().min(1);

/** Every setting of Vis itself, declared once: its name, type, default and documentation; extensions own the other
 * sections. `project`: the file of a workspace may set it. Blocks can write that file, so such a setting must not name
 * a command, a host, a key or a grant. `env`: the variable that sets it. `deno task gen` writes the defaults, these
 * marks and the page of the settings. */
export const ConfigSchema = z.strictObject({
  model: name.nullable().default(null).describe("Model used where none is asked for: model or provider/model")
    .meta({ project: true, env: "VIS_MODEL" }),
  provider: name.nullable().default(null).describe(
    "The only provider to use: one of providers, a preset, demo or files",
  ).meta({ env: "VIS_PROVIDER" }),
  providers: z.array(ProviderSchema).default([]).describe("Services and their models; the first model is the root"),
  localServers: z.boolean().default(true).describe(
    "Whether to look for Ollama, LM Studio and vLLM on this machine where no provider is configured",
  ),
  database: z.string().min(1).refine((text) => !/^postgres(ql)?:\/\/[^@/?]*:[^@/?]*@/.test(text), {
    message: "must not contain a password, set VIS_DATABASE_PASSWORD or VIS_DATABASE_PASSWORD_FILE",
  }).nullable().default(null).describe("Database: a file, or the URL of a PostgreSQL database; vis.db if null"),
  baseUrl: z.url({ protocol: /^https?$/ }).nullable().default(null).describe(
    "Base URL of an OpenAI-compatible server, with its /v1",
  ).meta({ env: "VIS_BASE_URL" }),
  retry: z.strictObject({
    patienceMs: z.int().min(0).default(300_000).describe(
      "How long a model call is tried again while its providers are out of order, in milliseconds; 0 for three tries only",
    ),
  }).prefault({}),
  budget: z.strictObject({
    iterations: positive.default(4).describe(
      "Iterations a query may use before its budget extends itself or it must ask for more",
    )
      .meta({ project: true }),
    ceiling: positive.nullable().default(40).describe(
      "Most iterations a query may reach: its budget extends itself while iterations bring something new; null for no limit",
    ),
    costUsd: z.number().positive().nullable().default(null).describe("Most a query may cost in US dollars"),
    tokens: positive.nullable().default(null).describe("Most tokens a query may use, input and output"),
    wallMs: positive.nullable().default(null).describe("Longest a query may take in milliseconds"),
    subcalls: positive.nullable().default(null).describe(
      "Most model calls and child queries that blocks of a query may make",
    ),
    depth: z.int().min(0).max(5).default(1).describe("How deeply queries may be nested"),
  }).prefault({}),
  sandbox: z.strictObject({
    require: z.array(z.enum(["realm", "permissions", "process", "kernel"])).default([])
      .describe("Walls without which no block runs"),
    memoryMiB: positive.default(512).describe("Memory of a sandbox over its idle size, in MiB"),
    launcher: z.array(z.string()).default([]).describe(
      "Command that carries a sandbox: the sandbox's own command line is appended to it",
    ),
    live: positive.default(32).describe(
      "Most sandboxes at a time; the least recently used without a query is stopped",
    ),
    idleMs: positive.default(600_000).describe("How long a sandbox lives without a query, in milliseconds"),
    timeoutMs: positive.default(120_000).describe("Time limit of a block that names none, in milliseconds"),
    timeoutMinMs: positive.default(3_000).describe("Shortest time limit of a block in milliseconds"),
    timeoutMaxMs: positive.default(1_800_000).describe("Longest time limit of a block in milliseconds"),
  }).prefault({}),
  context: ShownLimits,
  server: z.strictObject({
    host: z.string().min(1).default("127.0.0.1").describe("Address that vis serve listens on"),
    port: z.int().min(0).max(65535).default(7357).describe("Port of vis serve; 0 takes one that is free"),
    hosts: z.array(z.string().min(1)).default([]).describe(
      "Names, with port where there is one, under which vis serve is reached besides its own address",
    ),
    tokenFile: z.string().min(1).nullable().default(null).describe(
      "File with the token of vis serve; null for server-token beside this file, made at the first start",
    ),
    tokensFile: z.string().min(1).nullable().default(null).describe(
      "File with a list of tokens, each with a scope, an expiry and a quota, instead of one token",
    ),
    jwt: z.strictObject({
      issuer: z.string().refine(isSecureUrl, "must be an https URL").nullable().default(null).describe(
        "Issuer of JSON Web Tokens that vis serve accepts too; null for none",
      ),
      audience: z.string().min(1).nullable().default(null).describe("What the tokens must name as their audience"),
      jwks: z.string().refine(isSecureUrl, "must be an https URL").nullable().default(null).describe(
        "Address of the issuer's public keys; null for the one in its discovery document",
      ),
      scopeClaim: z.string().min(1).default("scope").describe(
        "Claim with the scopes of a token: vis:read, vis:write, vis:admin",
      ),
      tenantClaim: z.string().min(1).nullable().default(null).describe(
        "Claim with the tenant of a token; null if every token belongs to the default one",
      ),
    }).prefault({}),
    proxies: z.array(
      z.string().refine((text) => network.safeParse(text).success, "must be an IP address or a network (10.0.0.0/8)"),
    ).default([]).describe(
      "Addresses and networks (10.0.0.0/8) of reverse proxies whose X-Forwarded-For says which address a request comes from",
    ),
    workspaces: z.array(z.string().min(1)).default([]).describe(
      "Folders that a new conversation of vis serve may name instead of the one it was started in",
    ),
    requestsPerMinute: positive.default(6_000).describe("Most requests a minute of one token, and of one address"),
    burst: positive.default(500).describe("Requests of one token, and of one address, that may come at once"),
    quota: z.strictObject({
      queriesPerDay: positive.nullable().default(null).describe("Queries that a token may begin in a day (UTC)"),
      costUsdPerDay: z.number().positive().nullable().default(null).describe(
        "US dollars after which a token begins no more queries in a day (UTC)",
      ),
      concurrent: positive.nullable().default(null).describe("Queries of a token that may run at a time"),
    }).prefault({}).describe("Limits of each token that has none of its own"),
    bodyMiB: positive.max(1024).default(32).describe("Largest body of a request to vis serve, in MiB"),
    shutdownMs: z.int().min(0).default(10_000).describe(
      "How long running queries may continue after vis serve is told to stop, in milliseconds; then they are cancelled",
    ),
  }).prefault({}),
  telegram: z.strictObject({
    allow: z.array(z.int()).default([]).describe(
      "Ids of users who may use the bot of vis telegram, and of groups in which everybody may; vis telegram allow adds one",
    ),
    apiUrl: z.url({ protocol: /^https?$/ }).default("https://api.telegram.org").describe(
      "Bot API server: Telegram's or your own",
    ),
    webhookUrl: z.url({ protocol: /^https$/ }).nullable().default(null).describe(
      "Public address at which vis serve answers the bot's webhook; null for none: vis telegram asks for updates",
    ),
    shutdownMs: z.int().min(0).default(10_000).describe(
      "How long running queries may continue after vis telegram is told to stop, in milliseconds; then they are interrupted, and start again at the next start",
    ),
  }).prefault({}),
  hooks: z.strictObject({
    request: commands.describe("Commands that run when a request begins"),
    edit: commands.describe("Commands that run after files were changed, such as a formatter"),
    end: commands.describe("Commands that run when a request has ended"),
    network: z.boolean().default(false).describe("Whether these commands get the network"),
  }).prefault({}),
  update: z.strictObject({
    from: z.string().min(1).nullable().default(null).describe(
      "Address (https) or folder with the files of the newest release, for vis update",
    ),
    publicKey: z.string().min(1).nullable().default(null).describe(
      "Public key of minisign with which vis update verifies a release",
    ),
  }).prefault({}),
  approvals: z.enum(["ask", "never"]).default("ask").describe(
    "What happens when an extension needs more than it was granted: ask the user, or refuse it without a question",
  ),
  secrets: z.array(z.string().min(1)).default([...SECRET_PATTERNS]).describe(
    "Files of the workspace that may hold keys, * for any text, ! for exceptions: reading one asks you first; a workspace only adds patterns",
  ).meta({ project: true }),
  extensions: z.strictObject({
    allow: z.array(name).nullable().default(null).describe(
      "Extensions to load, and no other: namespaces, or names of shipped ones such as web; null loads every one that is found and trusted",
    ),
    deny: z.array(name).default([]).describe(
      "Extensions that are not loaded: namespaces, or names of shipped ones such as web",
    )
      .meta({ project: true }),
    config: z.record(z.string(), z.unknown()).default({}).describe("Namespace of an extension to its own settings"),
  }).prefault({}),
});

export type Config = z.infer<typeof ConfigSchema>;
