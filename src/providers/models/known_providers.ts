import { ConfigError } from "../../domain/errors.ts";
import { withoutLogin } from "../../domain/kit/addresses.ts";
import { readBounded } from "../../domain/kit/bytes.ts";
import { asRecord, readForeignJson } from "../../domain/kit/json.ts";
import type { WireProtocol } from "../wire/wire.ts";
import type { ModelDataSet } from "./model_data.ts";

export interface Preset {
  readonly title: string;
  readonly protocol: WireProtocol;
  readonly baseUrl: string;
  /** The service's own clients read another address from these variables. The first variable that is set applies. */
  readonly baseUrlNames?: readonly string[];
  readonly versionPath?: string;
  readonly keyNames: readonly string[];
  /** Other programs also use these names of `keyNames`, so Vis uses them only for a named provider. */
  readonly sharedKeyNames?: readonly string[];
  readonly bearerName?: string;
  readonly key: "required" | "optional" | "device-login";
  readonly byKey: boolean;
  /** Lists of logins omit the preset, because another preset serves the same key. */
  readonly isByName?: true;
  readonly defaultModel: string | null;
  /** Other services use this API with their own models, so the default model applies only at the address of the
   * preset. */
  readonly isCopied?: true;
  readonly slashes?: true;
  readonly data: ModelDataSet | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly keyPath?: string;
  readonly keyPage?: string;
  /** The service searches the web at this price for each search. `protocol` is the API that searches, if Vis cannot
   * derive this API from the protocol of the calls. */
  readonly search?: { readonly usd: number; readonly protocol?: WireProtocol };
  readonly start?: string;
  readonly localPort?: number;
}

const CHAT = { protocol: "openai-chat", key: "required", byKey: true } as const;
const LOCAL = { protocol: "openai-chat", key: "optional", byKey: false, defaultModel: null, data: null } as const;
const OPENAI = {
  baseUrl: "https://api.openai.com/v1",
  baseUrlNames: ["OPENAI_BASE_URL", "OPENAI_API_BASE"],
  keyPage: "https://platform.openai.com/api-keys",
  keyNames: ["OPENAI_API_KEY"],
  key: "required",
  defaultModel: "gpt-6.2-sol",
  isCopied: true,
  data: "openai",
  search: { usd: 0.01 },
} as const;

/** Vis looks for keys of presets with `byKey` in this order. */
export const PRESETS: Readonly<Record<string, Preset> & { "openai": Preset }> = {
  "openai": {
    ...OPENAI,
    title: "OpenAI",
    protocol: "openai-chat",
    byKey: true,
  },
  "openai-responses": {
    ...OPENAI,
    title: "OpenAI, Responses API",
    isByName: true,
    protocol: "openai-responses",
    byKey: false,
  },
  "anthropic": {
    title: "Anthropic",
    protocol: "anthropic",
    baseUrl: "https://api.anthropic.com/v1",
    baseUrlNames: ["ANTHROPIC_BASE_URL"],
    versionPath: "/v1",
    keyPage: "https://console.anthropic.com/settings/keys",
    keyNames: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"],
    bearerName: "ANTHROPIC_AUTH_TOKEN",
    key: "required",
    byKey: true,
    defaultModel: "claude-sonnet-5",
    data: "anthropic",
    search: { usd: 0.01 },
  },
  "google": {
    title: "Google Gemini",
    protocol: "google",
    baseUrl: "https://generativelanguage.googleapis.com/v1beta",
    baseUrlNames: ["GOOGLE_GEMINI_BASE_URL"],
    versionPath: "/v1beta",
    keyPage: "https://aistudio.google.com/apikey",
    keyNames: ["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"],
    key: "required",
    byKey: true,
    defaultModel: "gemini-flash-latest",
    data: "google",
    search: { usd: 0.014 },
  },
  "openrouter": {
    ...CHAT,
    title: "OpenRouter",
    baseUrl: "https://openrouter.ai/api/v1",
    keyPath: "/key",
    keyPage: "https://openrouter.ai/keys",
    keyNames: ["OPENROUTER_API_KEY"],
    defaultModel: "openrouter/auto",
    slashes: true,
    data: "openrouter",
    search: { usd: 0.01, protocol: "openai-chat" },
    headers: { "x-title": "vis" },
  },
  "zai": {
    ...CHAT,
    title: "Z.ai",
    baseUrl: "https://api.z.ai/api/paas/v4",
    baseUrlNames: ["ZAI_BASE_URL"],
    keyPage: "https://z.ai/manage-apikey/apikey-list",
    keyNames: ["ZAI_API_KEY"],
    defaultModel: "glm-5.2",
    data: "zai",
  },
  "zai-coding": {
    ...CHAT,
    byKey: false,
    title: "Z.ai coding plan",
    baseUrl: "https://api.z.ai/api/coding/paas/v4",
    keyPage: "https://z.ai/manage-apikey/apikey-list",
    keyNames: ["ZAI_CODING_API_KEY", "ZAI_API_KEY"],
    defaultModel: "glm-5.2",
    data: "zai",
  },
  "alibaba": {
    ...CHAT,
    title: "Alibaba Model Studio",
    baseUrl: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
    keyNames: ["DASHSCOPE_API_KEY"],
    defaultModel: "qwen-plus",
    data: "alibaba",
  },
  "github-models": {
    ...CHAT,
    title: "GitHub Models",
    baseUrl: "https://models.github.ai/inference",
    keyPage: "https://github.com/settings/tokens",
    keyNames: ["GITHUB_MODELS_TOKEN", "GITHUB_TOKEN"],
    sharedKeyNames: ["GITHUB_TOKEN"],
    byKey: false,
    defaultModel: "openai/gpt-4.1",
    slashes: true,
    data: null,
  },
  "github-copilot": {
    title: "GitHub Copilot",
    protocol: "openai-chat",
    baseUrl: "https://api.githubcopilot.com",
    keyNames: ["COPILOT_GITHUB_TOKEN"],
    key: "device-login",
    byKey: false,
    defaultModel: "gpt-6-luna",
    data: "github-copilot",
  },
  "ollama": {
    ...LOCAL,
    title: "Ollama",
    baseUrl: "http://127.0.0.1:11434/v1",
    baseUrlNames: ["OLLAMA_HOST"],
    versionPath: "/v1",
    keyNames: [],
    localPort: 11434,
    start: "install it from https://ollama.com/download, then run: ollama serve, and: ollama pull MODEL",
  },
  "lmstudio": {
    ...LOCAL,
    title: "LM Studio",
    baseUrl: "http://127.0.0.1:1234/v1",
    keyNames: ["LM_API_TOKEN"],
    localPort: 1234,
  },
  "vllm": {
    ...LOCAL,
    title: "vLLM",
    baseUrl: "http://127.0.0.1:8000/v1",
    keyNames: ["VLLM_API_KEY"],
    localPort: 8000,
  },
};

export function defaultModelAt(baseUrl: string, preset: Preset): string | null {
  return preset.isCopied && baseUrl !== preset.baseUrl ? null : preset.defaultModel;
}

const OTHER_PURPOSE = /embed|rerank|image|dall-e|audio|whisper|tts|realtime|transcribe|moderation/i;
const SPECIAL = /(?:^|[-.\/])(?:pro|cyber|codex|nano|daybreak|research|preview|search)(?:[-.]|$)/i;

export function isChatModel(model: string): boolean {
  return !OTHER_PURPOSE.test(model);
}

export function generalModel(
  offered: readonly string[],
  { preset, knows }: { readonly preset: Preset | null; readonly knows: (model: string) => boolean },
): string | null {
  const own = preset?.defaultModel ?? null;
  if (own !== null && offered.includes(own)) return own;
  return offered.find((model) => knows(model) && isChatModel(model) && !SPECIAL.test(model)) ?? null;
}

export function environmentAddress(
  { baseUrlNames = [], versionPath = "" }: Preset,
  variable: (name: string) => string | null,
): { readonly baseUrl: string; readonly from: string } | null {
  const from = baseUrlNames.find((name) => variable(name) !== null);
  const given = from === undefined ? null : variable(from);
  if (from === undefined || given === null) return null;
  const url = URL.parse(from === "OLLAMA_HOST" ? ollamaUrl(given) : given);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new ConfigError(
      `Cannot use ${from}: ${withoutLogin(given).slice(0, 200)} is not an http or https URL; correct the variable`,
    );
  }
  if (from === "OLLAMA_HOST") url.hostname = REACHED[url.hostname] ?? url.hostname;
  const path = url.pathname.replace(/\/+$/, "");
  // Some clients expect the version in the variable. Other clients append the version.
  url.pathname = /\/v\d+\w*$/.test(path) ? path : path + versionPath;
  return { baseUrl: url.href.replace(/\/$/, ""), from };
}

const REACHED: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "[::]": "[::1]" };

function ollamaUrl(given: string): string {
  const [, scheme, rest = ""] = /^(?:(\w+):\/\/)?(.*)$/.exec(given.replace(/^["'\s]+|["'\s]+$/g, "")) ?? [];
  const [, host = "", port, path = ""] =
    /^(\[[^\]]*\]|[\da-f]*:[\da-f:]*:[\da-f:]*|[^:/]*)(?::(\d*))?(\/.*)?$/i.exec(rest) ??
      ["", rest];
  const plain = host.replace(/^\[|\]$/g, "");
  const shown = /^[\da-f]*:[\da-f:.]*$/i.test(plain) ? `[${plain}]` : plain || "127.0.0.1";
  return `${scheme ?? "http"}://${shown}${port ? `:${port}` : scheme === undefined ? ":11434" : ""}${path}`;
}

export interface LocalServer {
  readonly preset: string;
  readonly title: string;
  readonly baseUrl: string;
  readonly models: readonly string[];
}

export interface LocalAddress {
  readonly preset: string;
  readonly baseUrl: string;
}

const PROBE_MS = 150;
const MAX_BYTES = 1 << 20;

export function usualAddresses(variable: (name: string) => string | null): readonly LocalAddress[] {
  return Object.entries(PRESETS).flatMap(([name, preset]) =>
    preset.localPort === undefined
      ? []
      : [{ preset: name, baseUrl: environmentAddress(preset, variable)?.baseUrl ?? preset.baseUrl }]
  );
}

export async function discoverLocal(
  addresses: readonly LocalAddress[],
  { probeMs = PROBE_MS }: { readonly probeMs?: number | undefined } = {},
): Promise<readonly LocalServer[]> {
  const probed = await Promise.all(addresses.map((address) => probe(address, probeMs).catch(() => null)));
  return probed.filter((server) => server !== null);
}

async function probe({ preset, baseUrl }: LocalAddress, probeMs: number): Promise<LocalServer | null> {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), probeMs);
  try {
    const response = await fetch(`${baseUrl}/models`, { signal: abort.signal, redirect: "error" });
    const bytes = await readBounded(response.body ?? new Blob().stream(), { maxBytes: MAX_BYTES, tooLarge });
    const { data } = response.ok ? asRecord(readForeignJson(new TextDecoder().decode(bytes))) : { data: null };
    // Ollama returns null if it has no models.
    if (!response.ok || (!Array.isArray(data) && data !== null)) return null;
    const names = (data ?? []).map((model: unknown) => asRecord(model).id).filter((id: unknown) =>
      typeof id === "string"
    );
    const title = PRESETS[preset]?.title ?? preset;
    return { preset, title, baseUrl, models: names.filter((name: string) => !/embed|rerank/i.test(name)) };
  } finally {
    clearTimeout(timer);
  }
}

function tooLarge(): RangeError {
  return new RangeError(`Cannot read a list of models: it is larger than ${MAX_BYTES} bytes, the limit`);
}
