import { dirname, join } from "node:path";
import { type Installed, VERSIONS } from "./install.ts";
import type { Wire } from "./wires.ts";

export interface PlayOf {
  readonly base: string;
  /** The home belongs to this agent alone. A first run, which does not count, fills its caches. */
  readonly home: string;
  readonly prompt: string;
  readonly rounds: number;
}

export interface Agent {
  readonly label: string;
  readonly wire: Wire;
  readonly command: (play: PlayOf) => readonly string[];
  readonly version: readonly string[];
  readonly env?: (play: PlayOf) => Readonly<Record<string, string>>;
  readonly files?: (play: PlayOf) => Readonly<Record<string, string>>;
  readonly size: readonly string[];
}

/** Each agent has the settings for a local server that its documentation gives, without updates and telemetry. */
export function agentsOf(installed: Installed, vis: string): Readonly<Record<string, Agent>> {
  return {
    vis: visAgent(vis),
    pi: pi(installed),
    codex: codex(installed),
    claude: claude(installed),
    opencode: opencode(installed),
  };
}

function visAgent(path: string): Agent {
  return {
    label: "Vis",
    wire: "vis",
    command: ({ prompt, rounds }) => [path, "run", "--max-iterations", String(rounds + 5), prompt],
    version: [path, "--version"],
    env: ({ base }) => ({
      PATH: "/usr/local/bin:/usr/bin:/bin",
      ...{ VIS_BASE_URL: `${base}/v1`, VIS_API_KEY: "k", VIS_MODEL: "bench" },
    }),
    size: [path],
  };
}

function pi(installed: Installed): Agent {
  const { node } = installed;
  const bundle = installed.path("pi", "@earendil-works/pi-coding-agent/dist/bundle/cli.js");
  const models = [{ id: "bench", contextWindow: 200_000, maxTokens: 16_384 }];
  return {
    label: `pi ${VERSIONS.pi}`,
    wire: "chat",
    command: ({ prompt }) => [node, bundle, "-p", "--provider", "bench", "--model", "bench", prompt],
    version: [node, bundle, "--version"],
    env: () => ({ PI_OFFLINE: "1", PI_SKIP_VERSION_CHECK: "1" }),
    files: ({ base }) => ({
      ".pi/agent/models.json": JSON.stringify({
        providers: { bench: { baseUrl: `${base}/v1`, api: "openai-completions", apiKey: "k", models } },
      }),
    }),
    size: [installed.path("pi"), node],
  };
}

function codex(installed: Installed): Agent {
  const path = installed.path("codex", "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex");
  return {
    label: `Codex ${VERSIONS.codex}`,
    wire: "responses",
    command: ({ prompt }) => [
      ...[path, "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--json", prompt],
    ],
    version: [path, "--version"],
    env: () => ({ BENCH_KEY: "k" }),
    files: ({ base }) => ({
      ".codex/config.toml": [
        ...['model = "gpt-5.5"', 'model_provider = "bench"', "check_for_update_on_startup = false"],
        ...["[model_providers.bench]", 'name = "bench"', `base_url = "${base}/v1"`, 'env_key = "BENCH_KEY"'],
        ...['wire_api = "responses"', "request_max_retries = 0", "stream_max_retries = 0"],
        ...["[analytics]", "enabled = false", ""],
      ].join("\n"),
    }),
    size: [installed.path("codex")],
  };
}

function claude(installed: Installed): Agent {
  const path = installed.path("claude", "@anthropic-ai/claude-code/bin/claude.exe");
  return {
    label: `Claude Code ${VERSIONS.claude}`,
    wire: "anthropic",
    command: ({ prompt }) => [path, "-p", prompt, "--allowedTools", "Read,Bash", "--output-format", "json"],
    version: [path, "--version"],
    env: ({ base }) => ({
      ANTHROPIC_BASE_URL: base,
      ANTHROPIC_API_KEY: "sk-ant-bench-0000",
      ...{ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1", DISABLE_TELEMETRY: "1" },
      DISABLE_ERROR_REPORTING: "1",
    }),
    files: () => ({ ".claude/settings.json": JSON.stringify({ autoUpdates: false }) }),
    size: [installed.path("claude")],
  };
}

function opencode(installed: Installed): Agent {
  const path = installed.path("opencode", "opencode-ai/bin/opencode.exe");
  const limit = { context: 200_000, output: 16_384 };
  return {
    label: `OpenCode ${VERSIONS.opencode}`,
    wire: "chat",
    command: ({ prompt }) => [path, "run", "--format", "json", prompt],
    version: [path, "--version"],
    env: () => ({
      ...{ OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1", OPENCODE_DISABLE_LSP_DOWNLOAD: "1" },
    }),
    files: ({ base }) => ({
      ".config/opencode/opencode.json": JSON.stringify({
        ...{ autoupdate: false, share: "disabled", model: "bench/bench", small_model: "bench/bench" },
        provider: {
          bench: {
            npm: "@ai-sdk/openai-compatible",
            name: "bench",
            options: { baseURL: `${base}/v1`, apiKey: "k" },
            models: { bench: { name: "bench", limit, tool_call: true } },
          },
        },
        permission: { "*": "allow" },
      }),
    }),
    size: [installed.path("opencode", "opencode-linux-x64"), installed.path("opencode", "opencode-ai")],
  };
}

/** The environment is clean, because settings of the machine's user must not count. */
export function environmentOf(
  agent: Agent,
  { play, node }: { readonly play: PlayOf; readonly node: string },
): Readonly<Record<string, string>> {
  return {
    HOME: play.home,
    PATH: `${dirname(node)}:/usr/local/bin:/usr/bin:/bin`,
    ...{ LANG: "C.UTF-8", TERM: "xterm-256color", SHELL: "/bin/bash", USER: "bench" },
    TMPDIR: join(play.home, "tmp"),
    ...agent.env?.(play),
  };
}
