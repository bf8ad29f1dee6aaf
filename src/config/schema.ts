import { z } from "zod";
import { isAbsolute } from "node:path";
import { isSecureUrl } from "../domain/kit/addresses.ts";
import { SECRET_PATTERNS } from "../domain/kit/names.ts";

const positive = z.int().positive();
const usd = z.number().min(0);

const ModelSchema = z.strictObject({
  name: z.string().trim().min(1).describe("Name of the model at the service"),
  contextTokens: positive.optional().describe("Size of the model's context in tokens, for prompt and reply together"),
  price: z.strictObject({
    input: usd.describe("Price in US dollars per million tokens of input that comes from no cache"),
    output: usd.describe("Price in US dollars per million tokens of output"),
    cached: usd.optional().describe(
      "Price in US dollars per million tokens of input from a cache; by default, the price of input",
    ),
    cacheWrite: usd.optional().describe(
      "Price in US dollars per million tokens of input that the service writes to a cache",
    ),
    search: usd.optional().describe("Price in US dollars of one web search by the service"),
  }).optional().describe("Prices of the model"),
  reasoning: z.boolean().optional().describe("Whether Vis can set the reasoning level of the model"),
  images: z.boolean().optional().describe("Whether the model accepts images"),
  search: z.boolean().optional().describe("Whether the service searches the web for the model"),
  alternatingRoles: z.boolean().optional().describe(
    "Whether the model lacks a system role or requires alternating roles",
  ),
  speed: z.number().optional().describe("Rank of the model by speed; a higher number means faster"),
  intelligence: z.number().optional().describe("Rank of the model by intelligence; a higher number means better"),
});

const ProviderSchema = z.strictObject({
  name: z.string().regex(
    /^[A-Za-z0-9][\w.-]*$/,
    "must be letters, digits, dots, dashes and underscores, and begin with a letter or digit",
  )
    .describe("Name that --provider and provider/model use"),
  preset: z.string().min(1).optional().describe(
    "Preset that supplies omitted values; by default, the preset with the name of the entry",
  ),
  protocol: z.enum(["openai-chat", "openai-responses", "anthropic", "google"]).optional()
    .describe("Wire format of the service"),
  baseUrl: z.url({ protocol: /^https?$/ }).optional().describe(
    "Address of the service, including the version path such as /v1",
  ),
  keyEnv: z.string().regex(/^[A-Za-z_]\w*$/, "must be the name of a variable").optional()
    .describe("Environment variable that contains the key of the service"),
  models: z.array(ModelSchema).default([]).describe(
    "Models in order of preference; values here override the price, the context size and other facts that Vis knows about the model",
  ),
  headers: z.record(z.string(), z.string()).optional().describe("Additional HTTP headers of each call"),
  firstTokenMs: positive.optional().describe(
    "Longest time without data before the first word of a reply, in milliseconds. The default is 120000; for local servers, such as ollama, the default is 1800000. At the limit, Vis stops the call and uses the next route; without another route, the call fails",
  ),
  silenceMs: positive.optional().describe(
    "Longest silence in the middle of a reply, in milliseconds (default: 60000). At the limit, Vis stops the call. If you have seen a part of the reply, Vis tells the model that its reply broke off",
  ),
  rateLimit: z.strictObject({
    requests: positive.optional().describe(
      "Maximum number of model calls within the interval. At the limit, Vis uses the next route. If all routes are at their limits, the call waits; if the wait would take more than two minutes, the call fails",
    ),
    tokens: positive.optional().describe(
      "Maximum number of tokens within the interval, input and output. At the limit, Vis uses the next route. If all routes are at their limits, the call waits; if the wait would take more than two minutes, the call fails",
    ),
    perMs: positive.default(60_000).describe(
      "Length of the interval in milliseconds. At the limit, a call without another route waits for room; if the wait would take more than two minutes, the call fails",
    ),
  }).optional().describe("Limits for calls of this service within an interval"),
});

const network = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]);
const commands = z.array(z.string().min(1)).default([]);
const name = z.string().trim().min(1);

const ShownLimits = z.strictObject({
  journalChars: positive.default(24_000).describe(
    "Maximum length of the journal in characters. At the limit, Vis shortens the longest code, results and output. If a step has more than 100 blocks, Vis omits the middle ones",
  ),
  earlierChars: positive.default(6_000).describe(
    "Space for the journal and earlier results together, in characters; a longer journal leaves no space for earlier results. If the journal has at most 1000 characters, the space doubles, up to journalChars; after a failed block, the space is journalChars. At the limit, Vis omits the oldest results",
  ),
  previewChars: positive.default(24_000).describe(
    "Maximum length of a value in the journal, in characters. At the limit, Vis shows the model a part, and the size of the rest",
  ),
  stdoutChars: positive.default(24_000).describe(
    "Maximum length of a block's output in the journal, in characters. At the limit, Vis shows the model only the beginning and the end",
  ),
  stderrChars: positive.default(24_000).describe(
    "Maximum length of a block's error output in the journal, in characters. At the limit, Vis shows the model only the beginning and the end",
  ),
  errorChars: positive.default(2_000).describe(
    "Maximum length of an error in the journal, in characters. At the limit, Vis shows the model only the beginning and the end",
  ),
  thinkingChars: positive.default(4_000).describe(
    "Maximum length of the latest thinking of earlier steps, in characters. At the limit, Vis shows the model only the beginning and the end",
  ),
  attempts: positive.default(12).describe(
    "Maximum number of lines about earlier steps in the context message. At the limit, the model sees only the newest lines",
  ),
  indexRows: positive.default(150).describe(
    "Maximum number of rows of the variable index. At the limit, Vis shows the model the names of the other variables in at most 2,000 characters; vars() lists all variables",
  ),
  indexChars: positive.default(12_000).describe(
    "Maximum length of the rows of the variable index in characters. At the limit, Vis shows the model the names of the other variables in at most 2,000 characters; vars() lists all variables",
  ),
  inlineChars: positive.default(120).describe(
    "Maximum length of a value that the variable index shows in full, in characters. At the limit, the index describes a longer value instead",
  ),
  attemptsChars: positive.default(1_500).describe(
    "Maximum length of the lines about earlier steps, in characters. At the limit, Vis shows the model only the newest lines",
  ),
  notesChars: positive.default(3_000).describe(
    "Maximum length of the notes in characters. At the limit, Vis shows the model only the beginning and the end of the longest notes",
  ),
}).prefault({}).meta({ project: true });

/** A repository can bring settings with `project`, so such a setting must not name a command, a host, a key or a
 * grant. */
export const ConfigSchema = z.strictObject({
  model: name.nullable().default(null).describe("Default model, as model or provider/model")
    .meta({ project: true, env: "VIS_MODEL" }),
  provider: name.nullable().default(null).describe(
    "The only provider to use: a name from providers, a preset, demo or files",
  ).meta({ env: "VIS_PROVIDER" }),
  providers: z.array(ProviderSchema).default([]).describe(
    "Services in order of preference, with their models. If model is not set, Vis uses the first model of the first service, or else the default model of its preset. Without these, Vis uses the first chat model that ollama, lmstudio or vllm lists; of another service, Vis uses only a listed model that Vis knows",
  ),
  localServers: z.boolean().default(true).describe(
    "Whether Vis looks for Ollama, LM Studio and vLLM on this machine. Vis looks for them in vis auth login, in /model, and without a configured provider or a key for the model",
  ),
  database: z.string().min(1).refine((text) => !/^postgres(ql)?:\/\/[^@/?]*:[^@/?]*@/.test(text), {
    message: "must not contain a password; set VIS_DATABASE_PASSWORD or VIS_DATABASE_PASSWORD_FILE",
  }).nullable().default(null).describe(
    "Database file, URL of a PostgreSQL database, or :memory:; null for vis.db in $VIS_HOME",
  ),
  baseUrl: z.url({ protocol: /^https?$/ }).nullable().default(null).describe(
    "URL of an OpenAI-compatible server, including /v1; with provider or --provider, URL of that provider instead; null for none",
  ).meta({ env: "VIS_BASE_URL" }),
  retry: z.strictObject({
    patienceMs: z.int().min(0).default(300_000).describe(
      "Time in milliseconds for which Vis calls routes with temporary errors again, after up to three calls of each route; 0 for no further calls. Vis does not wait for a service that has not responded since Vis started. At the limit, the call fails with the last error",
    ),
  }).prefault({}),
  budget: z.strictObject({
    iterations: positive.default(4).describe(
      "Number of steps in the first budget of a request. The budget grows while steps make progress, and if the model asks for more steps. At the limit, the model gets one last call, and the request ends",
    )
      .meta({ project: true }),
    ceiling: positive.nullable().default(40).describe(
      "Largest budget of a request in steps, even if the steps make progress; null for no limit. The first four steps without a result do not count. If you do not set this key, your own budget.iterations replaces a smaller default, and a request that sets its own budget, for example with --max-iterations or --more, has no maximum. At the limit, the model gets one last call, and the request ends",
    ),
    costUsd: z.number().positive().nullable().default(null).describe(
      "Maximum cost of a request and its sub-queries in US dollars; null for no limit. At the limit, Vis makes no further model call, and the request ends with the reason limit_cost. Running calls continue, and may exceed the limit. With a limit, Vis refuses models with an unknown price before the first call",
    ),
    tokens: positive.nullable().default(null).describe(
      "Maximum number of tokens of a request and its sub-queries, input and output; null for no limit. At the limit, Vis makes no further model call, and the request ends with the reason limit_tokens. Running calls continue, and may exceed the limit",
    ),
    wallMs: positive.nullable().default(null).describe(
      "Longest time of a request in milliseconds; null for no limit. The time in which the request waits for your answers does not count. At the limit, Vis stops running calls and blocks, and the request ends with the reason limit_time",
    ),
    subcalls: positive.nullable().default(null).describe(
      "Maximum number of model calls and sub-queries by the blocks of a request; null for no limit. At the limit, each further model call or sub-query fails with an error in the block",
    ),
    depth: z.int().min(0).max(5).default(1).describe(
      "Maximum depth of nested sub-queries, 0 to 5; 0 for no sub-queries. At the limit, a deeper sub-query fails with an error in the block",
    ),
  }).prefault({}),
  sandbox: z.strictObject({
    require: z.array(z.enum(["realm", "permissions", "process", "kernel"])).default([])
      .describe(
        "Walls that must work before a block runs. With kernel, Vis also runs no command behind an incomplete command wall",
      ),
    memoryMiB: positive.default(512).describe(
      "Memory of a sandbox process above its idle size, in MiB. At the limit, the block fails; if the process ends, a new process gets the stored variables",
    ),
    launcher: z.array(z.string()).default([]).describe(
      "Command that starts each sandbox process, for example in a container; Vis appends the command line of the process",
    ),
    live: positive.default(32).describe(
      "Number of sandbox processes that Vis keeps; running requests can need more. At the limit, Vis stops the least recently used idle process; with the next request of its conversation, a new process gets the stored variables",
    ),
    idleMs: positive.default(600_000).describe(
      "Time in milliseconds for which an idle sandbox process waits for the next request. At the limit, Vis stops the process; with the next request of the conversation, a new process gets the stored variables",
    ),
    timeoutMs: positive.default(120_000).describe(
      "Time limit of a block that sets no limit, in milliseconds, between sandbox.timeoutMinMs and sandbox.timeoutMaxMs. At the limit, the block ends with Timeout. Its changes of files stay, and its changes of variables unless the block does not stop",
    ),
    timeoutMinMs: positive.default(3_000).describe(
      "Shortest time limit of a block in milliseconds, if sandbox.timeoutMaxMs is not shorter. A block with a shorter limit gets this limit. At the limit, the block ends with Timeout",
    ),
    timeoutMaxMs: positive.default(1_800_000).describe(
      "Longest time limit of a block in milliseconds; a block with a longer limit gets this limit. At the limit, the block ends with Timeout",
    ),
  }).prefault({}),
  context: ShownLimits,
  server: z.strictObject({
    host: z.string().min(1).default("127.0.0.1").describe("Address at which vis serve listens"),
    port: z.int().min(0).max(65535).default(7357).describe("Port of vis serve; 0 for any free port"),
    hosts: z.array(
      z.string().min(1).refine((text) => !text.includes("/"), "must be a host, such as vis.example.org or 192.168.1.7"),
    ).default([]).describe(
      "Further host names and IP addresses that vis serve accepts, such as the names of a reverse proxy; each may have a port",
    ),
    tokenFile: z.string().min(1).nullable().default(null).describe(
      "File with the token of vis serve, which Vis creates if it is missing; null for server-token in $VIS_HOME",
    ),
    tokensFile: z.string().min(1).nullable().default(null).describe(
      "File with a list of tokens, each with a scope and optionally an expiry and a quota; null for a single token",
    ),
    jwt: z.strictObject({
      issuer: z.string().refine(isSecureUrl, "must be an https URL, or an http URL of this machine").nullable().default(
        null,
      ).describe(
        "Issuer whose JSON Web Tokens vis serve also accepts; null for no issuer",
      ),
      audience: z.string().min(1).nullable().default(null).describe(
        "Audience that the tokens of the issuer must name; required with issuer",
      ),
      jwks: z.string().refine(isSecureUrl, "must be an https URL, or an http URL of this machine").nullable().default(
        null,
      ).describe(
        "Address of the public keys of the issuer; null for the address in the discovery document of the issuer",
      ),
      scopeClaim: z.string().min(1).default("scope").describe(
        "Claim with the scopes of a token: vis:read, vis:write or vis:admin",
      ),
      tenantClaim: z.string().min(1).nullable().default(null).describe(
        "Claim with the tenant; with this setting, each token of the issuer must have the claim. null means that these tokens belong to the tenant default",
      ),
    }).prefault({}),
    proxies: z.array(
      z.string().refine((text) => network.safeParse(text).success, "must be an IP address or a network (10.0.0.0/8)"),
    ).default([]).describe(
      "Addresses and networks (such as 10.0.0.0/8) of reverse proxies. For a request of a proxy, Vis takes the address of the client from the header X-Forwarded-For",
    ),
    workspaces: z.array(z.string().min(1)).default([]).describe(
      "Further folders that a new conversation may use as its workspace, besides the workspace of vis serve",
    ),
    requestsPerMinute: positive.default(6_000).describe(
      "Maximum number of HTTP requests per minute of one token, and of one address. At the limit, the response is 429 with Retry-After",
    ),
    burst: positive.default(500).describe(
      "Maximum number of HTTP requests of one token, and of one address, in a burst; after the burst, requestsPerMinute limits their rate. At the limit, the response is 429 with Retry-After",
    ),
    quota: z.strictObject({
      queriesPerDay: positive.nullable().default(null).describe(
        "Maximum number of requests of a token per day (UTC); null for no limit. At the limit, the response is 429 with Retry-After until the next day",
      ),
      costUsdPerDay: z.number().positive().nullable().default(null).describe(
        "Maximum cost of the requests of a token per day (UTC), in US dollars; null for no limit. At the limit, the response is 429 with Retry-After until the next day. With a limit, Vis refuses models with an unknown price (400)",
      ),
      concurrent: positive.nullable().default(null).describe(
        "Maximum number of simultaneous requests of a token; null for no limit. At the limit, the response is 429 with Retry-After until one of these requests has ended",
      ),
    }).prefault({}).describe(
      "Limits of a token that sets no such limit itself; the daily limits also apply to each user of the Telegram bot. In the locked profile, null means 1000 requests a day, 20 US dollars a day and 4 simultaneous requests",
    ),
    bodyMiB: positive.max(1024).default(32).describe(
      "Largest body of an HTTP request, in MiB; the setting can be at most 1024. At the limit, the response is 413; if a request declares a larger body, Vis does not read it",
    ),
    shutdownMs: z.int().min(0).default(10_000).describe(
      "Time in milliseconds for which running requests may continue after vis serve gets a signal to stop. At the limit, Vis cancels these requests; on PostgreSQL, other nodes continue them",
    ),
  }).prefault({}),
  telegram: z.strictObject({
    allow: z.array(z.int()).default([]).describe(
      "Ids of users who may use the Telegram bot in each chat, and of groups whose members may use the bot there. vis telegram allow adds ids",
    ),
    apiUrl: z.url({ protocol: /^https?$/ }).default("https://api.telegram.org").describe(
      "Address of the Bot API server: the server of Telegram, or your own",
    ),
    webhookUrl: z.url({ protocol: /^https$/ }).nullable().default(null).describe(
      "Public https address with a path, at which vis serve receives the messages of the bot; null if vis telegram polls for messages",
    ),
    shutdownMs: z.int().min(0).default(10_000).describe(
      "Time in milliseconds for which running requests may continue after vis telegram gets a signal to stop. At the limit, Vis stops these requests; the next start of the bot runs them again, up to three runs in all",
    ),
  }).prefault({}),
  hooks: z.strictObject({
    request: commands.describe("Commands that run when a request begins, each for at most 60 s"),
    edit: commands.describe(
      "Commands that run after a call that changed files, such as a formatter, each for at most 60 s",
    ),
    end: commands.describe("Commands that run when a request has ended, each for at most 60 s"),
    network: z.boolean().default(false).describe("Whether the commands of hooks may use TCP and UDP to any address"),
  }).prefault({}),
  modelCatalog: z.url({ protocol: /^https?$/ }).default("https://models.dev/api.json").describe(
    "Address of a catalogue in the format of models.dev, from which vis models --refresh takes the data of models, such as prices",
  ),
  update: z.strictObject({
    from: z.string().min(1).refine(
      (from) => isSecureUrl(from) || !from.includes("://"),
      "must be an https URL, an http URL of this machine, or a folder",
    ).nullable().default(null).describe(
      "Address (https) or folder with the files of the latest release, for vis update; null for the address built into the executable",
    ),
    publicKey: z.string().min(1).nullable().default(null).describe(
      "Public minisign key with which vis update verifies a release; null for the key built into the executable",
    ),
  }).prefault({}),
  approvals: z.enum(["ask", "never"]).default("ask").describe(
    "Reaction to a call that needs an approval and has none. With ask, Vis asks you; if you cannot answer, Vis refuses the call. With never, Vis refuses the call without a question",
  ),
  secrets: z.array(z.string().min(1)).default([...SECRET_PATTERNS]).describe(
    "Patterns of files that may contain secrets; * matches any text, and ! makes an exception. File functions need your approval to read one of these files. A complete command wall hides these files from commands, except files that git tracks and that have not changed. A workspace can only add patterns",
  ).meta({ project: true }),
  readFolders: z.array(z.string().refine((path) => isAbsolute(path), "must be an absolute path")).default([]).describe(
    "Absolute paths of folders that file functions, @path and commands can read, in addition to the workspace; commands can also run programs there. Vis asks before a file function changes a file there. --add-dir adds folders for one run. No workspace can set it",
  ),
  extensions: z.strictObject({
    allow: z.array(name).nullable().default(null).describe(
      "The only extensions that Vis may load: namespaces, or aliases of shipped extensions, such as web. null means no such restriction; in the locked profile, null means no extension",
    ),
    deny: z.array(name).default([]).describe(
      "Extensions that Vis does not load: namespaces, or aliases of shipped extensions, such as web",
    )
      .meta({ project: true }),
    config: z.record(z.string(), z.unknown()).default({}).describe("Settings of extensions, by namespace"),
  }).prefault({}),
});

export type Config = z.infer<typeof ConfigSchema>;
