import { z } from "zod";
import { isSecureUrl } from "../domain/kit/addresses.ts";
import { SECRET_PATTERNS } from "../domain/kit/secret_files.ts";
import { ShownLimits } from "./context_limits.ts";

const positive = z.int().positive();
const usd = z.number().min(0);

const ModelSchema = z.strictObject({
  name: z.string().trim().min(1).describe("Name of the model at the service"),
  contextTokens: positive.optional().describe("Size of the model's context in tokens, prompt and reply together"),
  price: z.strictObject({
    input: usd.describe("US dollars per million tokens of input"),
    output: usd.describe("US dollars per million tokens of output"),
    cached: usd.optional().describe(
      "US dollars per million tokens of input from a cache; the price of input if not set",
    ),
    cacheWrite: usd.optional().describe("US dollars per million tokens of input that the service writes to a cache"),
  }).optional().describe("Prices of the model"),
  reasoning: z.boolean().optional().describe("Whether the model has reasoning of its own, with levels"),
  images: z.boolean().optional().describe("Whether the model accepts images"),
  alternatingRoles: z.boolean().optional().describe(
    "Whether the model lacks a system role or requires alternating roles",
  ),
  speed: z.number().optional().describe("Rank of the model by speed, higher is faster"),
  intelligence: z.number().optional().describe("Rank of the model by intelligence, higher is better"),
});

const ProviderSchema = z.strictObject({
  name: z.string().regex(
    /^[A-Za-z0-9][\w.-]*$/,
    "must be letters, digits, dots, dashes and underscores, and begin with a letter or digit",
  )
    .describe("Name that --provider and provider/model use"),
  preset: z.string().min(1).optional().describe(
    "Preset that supplies omitted values; by default, the preset of the same name",
  ),
  protocol: z.enum(["openai-chat", "openai-responses", "anthropic", "google"]).optional()
    .describe("Wire format of the service"),
  baseUrl: z.url({ protocol: /^https?$/ }).optional().describe("Address of the service with its version path"),
  keyEnv: z.string().regex(/^[A-Za-z_]\w*$/, "must be the name of a variable").optional()
    .describe("Environment variable that contains the key of the service"),
  models: z.array(ModelSchema).default([]).describe(
    "Models in order of preference; values here override the built-in data",
  ),
  headers: z.record(z.string(), z.string()).optional().describe("Additional HTTP headers"),
  firstTokenMs: positive.optional().describe(
    "Longest wait for the first word of a reply, in milliseconds (default: 2 minutes; 30 minutes for a server on this machine). At the limit, Vis stops the call and uses the next route; without one, the request ends as provider",
  ),
  silenceMs: positive.optional().describe(
    "Longest silence in the middle of a reply, in milliseconds (default: 60 seconds). At the limit, Vis stops the call and repeats it, or informs the model that its reply broke off",
  ),
  rateLimit: z.strictObject({
    requests: positive.optional().describe(
      "Maximum number of model calls within the interval. At the limit, Vis uses the next route, or the call waits",
    ),
    tokens: positive.optional().describe(
      "Maximum number of tokens within the interval, input and output. At the limit, Vis uses the next route, or the call waits",
    ),
    perMs: positive.default(60_000).describe(
      "Length of the interval in milliseconds. At the limit, a call waits until the interval is over, if that takes at most two minutes; otherwise, it fails",
    ),
  }).optional().describe("Number of calls and tokens that the service accepts within an interval"),
});

const network = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]);
const commands = z.array(z.string().min(1)).default([]);
const name = z.string().trim().min(1);

/** The settings of Vis. Extensions own further sections. `project` means that the file of a workspace may set the
 * setting. A repository can bring this file, so such a setting must not name a command, a host, a key or a grant. `env`
 * is the variable that sets the setting. `deno task gen` writes the defaults, these marks and the page of the
 * settings. */
export const ConfigSchema = z.strictObject({
  model: name.nullable().default(null).describe("Default model, as model or provider/model")
    .meta({ project: true, env: "VIS_MODEL" }),
  provider: name.nullable().default(null).describe(
    "The only provider to use: a name from providers, a preset, demo or files",
  ).meta({ env: "VIS_PROVIDER" }),
  providers: z.array(ProviderSchema).default([]).describe("Services and their models; the first model is the default"),
  localServers: z.boolean().default(true).describe(
    "Whether Vis looks for Ollama, LM Studio and vLLM on this machine if the settings have no provider",
  ),
  database: z.string().min(1).refine((text) => !/^postgres(ql)?:\/\/[^@/?]*:[^@/?]*@/.test(text), {
    message: "must not contain a password; set VIS_DATABASE_PASSWORD or VIS_DATABASE_PASSWORD_FILE",
  }).nullable().default(null).describe(
    "Database: a file, or the URL of a PostgreSQL database; vis.db in $VIS_HOME if null",
  ),
  baseUrl: z.url({ protocol: /^https?$/ }).nullable().default(null).describe(
    "Base URL of an OpenAI-compatible server, with its /v1",
  ).meta({ env: "VIS_BASE_URL" }),
  retry: z.strictObject({
    patienceMs: z.int().min(0).default(300_000).describe(
      "Time in milliseconds for which Vis repeats a model call while all providers fail; 0 for three attempts only. At the limit, the request ends as provider with the last error",
    ),
  }).prefault({}),
  budget: z.strictObject({
    iterations: positive.default(4).describe(
      "Steps of a request before its budget grows or the model must ask for more. At the limit, the budget grows while steps make progress; then the model gets one last call, and the request ends as max_iterations",
    )
      .meta({ project: true }),
    ceiling: positive.nullable().default(40).describe(
      "Maximum number of steps of a request, regardless of their progress; null for no limit. At the limit, the model gets one last call, and the request ends as max_iterations",
    ),
    costUsd: z.number().positive().nullable().default(null).describe(
      "Maximum cost of a request in US dollars. At the limit, Vis makes no further call, and the request ends as limit_cost; running calls are finished and may exceed the limit. Vis refuses a model with an unknown price before the first call",
    ),
    tokens: positive.nullable().default(null).describe(
      "Maximum number of tokens of a request, input and output. At the limit, Vis makes no further call, and the request ends as limit_tokens; running calls are finished and may exceed the limit",
    ),
    wallMs: positive.nullable().default(null).describe(
      "Longest time of a request in milliseconds. At the limit, Vis stops running calls and blocks, and the request ends as limit_time",
    ),
    subcalls: positive.nullable().default(null).describe(
      "Maximum number of model calls and sub-queries by the blocks of a request. At the limit, each further call fails with an error in the block",
    ),
    depth: z.int().min(0).max(5).default(1).describe(
      "Maximum depth of nested sub-queries. At the limit, a deeper one fails with an error in the block",
    ),
  }).prefault({}),
  sandbox: z.strictObject({
    require: z.array(z.enum(["realm", "permissions", "process", "kernel"])).default([])
      .describe("Walls that must work before a block runs"),
    memoryMiB: positive.default(512).describe(
      "Memory of a sandbox process above its idle size, in MiB. At the limit, the process ends; a new one has the variables of the last finished block",
    ),
    launcher: z.array(z.string()).default([]).describe(
      "Command that starts each sandbox process, such as a container; Vis appends the command line of the sandbox",
    ),
    live: positive.default(32).describe(
      "Maximum number of sandbox processes at a time. At the limit, Vis stops the least recently used idle process; its variables return when they are needed",
    ),
    idleMs: positive.default(600_000).describe(
      "Time in milliseconds for which a sandbox process waits for a request. At the limit, Vis stops it; its variables return when they are needed",
    ),
    timeoutMs: positive.default(120_000).describe(
      "Time limit of a block that sets no limit, in milliseconds. At the limit, the block ends with Timeout; its changes are kept",
    ),
    timeoutMinMs: positive.default(3_000).describe(
      "Shortest time limit of a block in milliseconds. At the limit, a block that sets a shorter limit gets this one",
    ),
    timeoutMaxMs: positive.default(1_800_000).describe(
      "Longest time limit of a block in milliseconds. At the limit, a block that sets a longer limit ends with Timeout",
    ),
  }).prefault({}),
  context: ShownLimits,
  server: z.strictObject({
    host: z.string().min(1).default("127.0.0.1").describe("Address at which vis serve listens"),
    port: z.int().min(0).max(65535).default(7357).describe("Port of vis serve; 0 for any free port"),
    hosts: z.array(z.string().min(1)).default([]).describe(
      "Further host names of vis serve, such as the names of a reverse proxy; each may have a port",
    ),
    tokenFile: z.string().min(1).nullable().default(null).describe(
      "File with the token of vis serve; null for server-token in $VIS_HOME, which the first start creates",
    ),
    tokensFile: z.string().min(1).nullable().default(null).describe(
      "File with a list of tokens, each with a scope, an expiry and a quota, instead of one token",
    ),
    jwt: z.strictObject({
      issuer: z.string().refine(isSecureUrl, "must be an https URL, or an http URL of this machine").nullable().default(
        null,
      ).describe(
        "Issuer of JSON Web Tokens that vis serve also accepts; null for none",
      ),
      audience: z.string().min(1).nullable().default(null).describe("Audience that the tokens must name"),
      jwks: z.string().refine(isSecureUrl, "must be an https URL, or an http URL of this machine").nullable().default(
        null,
      ).describe(
        "Address of the issuer's public keys; null for the address in its discovery document",
      ),
      scopeClaim: z.string().min(1).default("scope").describe(
        "Claim with the scopes of a token: vis:read, vis:write, vis:admin",
      ),
      tenantClaim: z.string().min(1).nullable().default(null).describe(
        "Claim with the tenant of a token; null if every token belongs to the tenant default",
      ),
    }).prefault({}),
    proxies: z.array(
      z.string().refine((text) => network.safeParse(text).success, "must be an IP address or a network (10.0.0.0/8)"),
    ).default([]).describe(
      "Addresses and networks (10.0.0.0/8) of reverse proxies whose X-Forwarded-For names the client",
    ),
    workspaces: z.array(z.string().min(1)).default([]).describe(
      "Folders that a new conversation may use instead of the folder in which vis serve was started",
    ),
    requestsPerMinute: positive.default(6_000).describe(
      "Maximum number of HTTP requests per minute of one token, and of one address. At the limit, the response is 429 with Retry-After",
    ),
    burst: positive.default(500).describe(
      "Maximum number of HTTP requests of one token, and of one address, in a burst; after it, requestsPerMinute limits their rate. At the limit, the response is 429 with Retry-After",
    ),
    quota: z.strictObject({
      queriesPerDay: positive.nullable().default(null).describe(
        "Maximum number of requests of a token per day (UTC). At the limit, the response is 429 with Retry-After until the next day",
      ),
      costUsdPerDay: z.number().positive().nullable().default(null).describe(
        "Maximum cost of the requests of a token per day (UTC), in US dollars. At the limit, the response is 429 with Retry-After; a model with an unknown price is refused (400)",
      ),
      concurrent: positive.nullable().default(null).describe(
        "Maximum number of simultaneous requests of a token. At the limit, the response is 429 until one of them has ended",
      ),
    }).prefault({}).describe("Limits of each token that sets no limit itself"),
    bodyMiB: positive.max(1024).default(32).describe(
      "Largest body of an HTTP request, in MiB. At the limit, the response is 413, even before the body is read if its length is declared",
    ),
    shutdownMs: z.int().min(0).default(10_000).describe(
      "Time in milliseconds for which running requests may continue after vis serve must stop. At the limit, Vis cancels them; on PostgreSQL, other nodes continue them",
    ),
  }).prefault({}),
  telegram: z.strictObject({
    allow: z.array(z.int()).default([]).describe(
      "Ids of users who may use the bot, and of groups in which every member may use it; vis telegram allow adds an id",
    ),
    apiUrl: z.url({ protocol: /^https?$/ }).default("https://api.telegram.org").describe(
      "Server of the Bot API, either Telegram's or your own",
    ),
    webhookUrl: z.url({ protocol: /^https$/ }).nullable().default(null).describe(
      "Public address at which vis serve answers the bot's webhook; null if vis telegram polls for updates",
    ),
    shutdownMs: z.int().min(0).default(10_000).describe(
      "Time in milliseconds for which running requests may continue after vis telegram must stop. At the limit, Vis stops them and starts them again at the next start",
    ),
  }).prefault({}),
  hooks: z.strictObject({
    request: commands.describe("Commands that run when a request begins"),
    edit: commands.describe("Commands that run after files were changed, such as a formatter"),
    end: commands.describe("Commands that run when a request has ended"),
    network: z.boolean().default(false).describe("Whether the commands of hooks have the network"),
  }).prefault({}),
  modelCatalog: z.url({ protocol: /^https?$/ }).default("https://models.dev/api.json").describe(
    "Address of the catalogue from which vis models --refresh takes prices and context sizes, in the format of models.dev",
  ),
  update: z.strictObject({
    from: z.string().min(1).nullable().default(null).describe(
      "Address (https) or folder with the files of the latest release, for vis update; null for the address of the build",
    ),
    publicKey: z.string().min(1).nullable().default(null).describe(
      "Public minisign key with which vis update verifies a release; null for the key of the build",
    ),
  }).prefault({}),
  approvals: z.enum(["ask", "never"]).default("ask").describe(
    "What Vis does with a call that your settings and answers do not allow: ask you (ask), or refuse the call without a question (never)",
  ),
  secrets: z.array(z.string().min(1)).default([...SECRET_PATTERNS]).describe(
    "Files of the workspace that may contain secrets; * matches any text, and ! makes an exception. Vis asks before the model reads one. A workspace can only add patterns",
  ).meta({ project: true }),
  extensions: z.strictObject({
    allow: z.array(name).nullable().default(null).describe(
      "The only extensions that Vis loads: namespaces, or aliases of shipped ones such as web; null for all trusted extensions that Vis finds",
    ),
    deny: z.array(name).default([]).describe(
      "Extensions that Vis does not load: namespaces, or aliases of shipped ones such as web",
    )
      .meta({ project: true }),
    config: z.record(z.string(), z.unknown()).default({}).describe("Settings of extensions by namespace"),
  }).prefault({}),
});

export type Config = z.infer<typeof ConfigSchema>;
