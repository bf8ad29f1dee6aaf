import { existsSync } from "node:fs";
import { basename, resolve } from "node:path";
import { nearestName } from "../../../domain/kit/names.ts";
import { type Conversation, nothingToContinue } from "../../../conversation/conversations.ts";
import { type AskOptions, type AskTarget, readImageFile } from "../../../conversation/ask_options.ts";
import { Cancelled, ConfigError, fileFault, messageOf, UsageError } from "../../../domain/errors.ts";
import { type Image, MAX_IMAGE_BYTES, readImage } from "../../../domain/images.ts";
import { ByteBuffer, decodeText } from "../../../domain/kit/bytes.ts";
import { isWithin } from "../../../domain/kit/files.ts";
import { abortable } from "../../../domain/kit/concurrency.ts";
import { countedChoice, oneLine, visibleText } from "../../../domain/kit/text.ts";
import type { SentMessage } from "../../../domain/query/model_call.ts";
import type { QueryResult } from "../../../domain/query/query_schemas.ts";
import { shownRange } from "../../../domain/query/stored_query.ts";
import {
  requestOfCommand,
  SCREEN_COMMANDS,
  typedCommand,
  type TypedRequest,
  withoutWords,
} from "../../../domain/query/typed_request.ts";
import type { Io, OpenRequest, Session } from "../../channel.ts";
import { jsonText } from "../output.ts";
import { type CommandInput, type Context, forkPoint, inOwnWorkspace, withSession } from "../program/command.ts";
import { type Progress, type QueryCommandFlags, runQueryCommand } from "../query_command.ts";

export interface RunFlags extends OpenRequest, QueryCommandFlags {
  readonly continue?: boolean | undefined;
  readonly conversation?: string | undefined;
  readonly fork?: string | undefined;
  readonly image?: readonly string[] | undefined;
  readonly schema?: string | undefined;
  readonly context?: string | undefined;
  readonly plan?: boolean | undefined;
  readonly only?: AskOptions["only"];
  readonly more?: boolean | undefined;
  readonly maxCost?: number | undefined;
  readonly timeout?: number | undefined;
  readonly typed?: string | undefined;
}

export async function runCommand(
  prompt: string,
  { services, io, flags: named }: CommandInput<RunFlags>,
): Promise<number> {
  checkWhere(named);
  const flags = await inOwnWorkspace({ services, flags: named, fork: named.fork });
  const { context, ...given } = await readGiven(flags, io);
  const opening = services.open({ ...flags, oneRequest: true, maxCostUsd: flags.maxCost, timeoutMs: flags.timeout });
  const code = await withSession(opening, (session) =>
    runQueryCommand({
      io,
      flags,
      schema: given.responseSchema !== undefined,
      traceOf: (result) => traceOf(result, session),
      begin: async (options, progress) => {
        const onBranch = async (branch: Conversation): Promise<void> => {
          if (flags.quiet) return tell(session.problems, progress);
          await announce(progress, { session, branch, flags });
          if (flags.cwd !== named.cwd) progress.line(`vis · in ${visibleText(session.workspace)}`);
        };
        const all = { ...options, refuseWhenBusy: true, onBranch };
        const place = {
          ...session,
          isChosen: flags.cwd !== undefined,
          note: (text: string) => flags.quiet || progress.line(`vis · ${visibleText(text)}`),
          problem: (text: string) => progress.line(`vis · ${visibleText(text)}`),
        };
        if (flags.more) return await session.conversations.more(await continued(place, flags), all);
        const target = await targetOf(place, flags);
        const { typed = "", only = flags.plan ? "plan" : undefined } = flags;
        const { text, images } = typed.includes("@")
          ? await withNamedImages(prompt, { typed, images: given.images ?? [], session, note: place.problem })
          : { text: prompt, images: given.images };
        return await session.conversations.ask(target, text, {
          ...all,
          only,
          ...given,
          images,
          context: context?.(options.signal),
        });
      },
    }));
  if (flags.plan && code === 0 && !flags.quiet) {
    io.stderr('This is a plan: vis run -c "go" carries it out\n');
  }
  return code;
}

function checkWhere({ continue: newest, conversation, fork, ...flags }: RunFlags): void {
  const others = [
    fork && "--fork",
    flags.plan && "--plan",
    flags.image?.length && "--image",
    flags.schema && "--schema",
    flags.context && "--context",
    flags.maxIterations && "--max-iterations",
  ].filter(Boolean);
  if (flags.more && others.length > 0) {
    throw new UsageError(
      `Cannot use ${others.join(" and ")} with --more: the last request continues unchanged; leave out --more, or ${
        others.join(" and ")
      }`,
    );
  }
  const given = [newest ? "-c" : null, conversation && "--conversation", fork && "--fork"].filter(Boolean);
  if (given.length > 1) {
    throw new UsageError(
      `Cannot continue in two places: the options exclude each other; use only one of ${given.join(", ")}`,
    );
  }
}

type Given = Pick<AskOptions, "images" | "responseSchema"> & {
  readonly context: Awaited<ReturnType<typeof readContextArgument>> | undefined;
};

async function readGiven({ image = [], schema, context, only, output }: RunFlags, io: Io): Promise<Given> {
  const isData = only === "review" && output !== "text";
  const images = [];
  for (const one of image) images.push(one === STDIN ? await readPipedImage(io) : await readImageArgument(one));
  return {
    images,
    responseSchema: schema === undefined ? isData ? FINDINGS_SCHEMA : undefined : await readSchema(schema),
    context: context === undefined ? undefined : await readContextArgument(context, io),
  };
}

const FINDINGS_SCHEMA = {
  type: "object",
  properties: {
    findings: {
      type: "array",
      items: {
        type: "object",
        properties: {
          file: { type: "string" },
          line: { type: "integer", minimum: 1 },
          severity: { enum: ["high", "medium", "low"] },
          title: { type: "string" },
          detail: { type: "string" },
        },
        required: ["file", "line", "severity", "title", "detail"],
        additionalProperties: false,
      },
    },
    summary: { type: "string" },
  },
  required: ["findings", "summary"],
  additionalProperties: false,
};

type Place = Pick<Session, "conversations" | "workspace"> & {
  readonly isChosen: boolean;
  readonly note: (text: string) => void;
};

async function targetOf(place: Place, flags: RunFlags): Promise<AskTarget> {
  const { conversations, workspace } = place;
  if (flags.fork) {
    const { branch, point } = await forkPoint(conversations, flags.fork);
    await conversations.records.follow(branch, place);
    return point;
  }
  if (flags.conversation) {
    return await conversations.records.follow(await conversations.byId(flags.conversation), place);
  }
  if (!flags.continue) return { channel: "cli", workspace };
  const latest = await conversations.latest(workspace);
  if (latest === null) place.note(await nothingToContinue(place));
  return latest ?? { channel: "cli", workspace };
}

async function continued(place: Place, { conversation }: RunFlags): Promise<Conversation> {
  const { conversations, workspace } = place;
  if (conversation) return await conversations.records.follow(await conversations.byId(conversation), place);
  const latest = await conversations.latest(workspace);
  if (latest === null) {
    throw new UsageError(
      `Cannot continue the last request: workspace ${workspace} has no conversation yet; send a request first`,
    );
  }
  return latest;
}

async function traceOf({ queryId, conversationId }: QueryResult, { conversations }: Session): Promise<object | null> {
  const { queries } = await conversations.recording(await conversations.byId(conversationId));
  const query = queries.find((one) => one.queryId === queryId);
  return query ? (await import("./show_conversation.ts")).printableQuery(query) : null;
}

const ID_CHARS = 13;

async function announce(
  progress: Progress,
  { session, branch, flags }: { readonly session: Session; readonly branch: Conversation; readonly flags: RunFlags },
): Promise<void> {
  const resumed = flags.continue || flags.more || flags.conversation || flags.fork
    ? await session.conversations.queries(branch)
    : [];
  const last = resumed.at(-1);
  if (last?.running) {
    progress.line(
      `The last request is still running in another process (vis --conversation ${
        branch.branchId.slice(0, ID_CHARS)
      } ` +
        "shows, steers, answers and cancels it)",
    );
  }
  if (last?.reason === "process_lost") {
    const replies = await session.conversations.iterations(last.queryId);
    const again = replies.length === 0
      ? " The model had not replied yet: if the request had --context, pass --context again."
      : "";
    progress.line(`The last request was interrupted: ${oneLine(last.answer, 200)}${again}`);
  }
  const of = `${session.provider} ${session.model} · conversation ${branch.conversationId.slice(0, ID_CHARS)}`;
  progress.line(`vis · ${of}${resumed.length > 0 ? ` · ${resumed.length} earlier` : ""}`);
  if (flags.fork) progress.line("vis · a new branch of the conversation; files stay as they are");
  tell(session.notes, progress);
}

function tell(notes: readonly string[] = [], progress: Progress): void {
  for (const note of notes) progress.line(`vis · ${visibleText(oneLine(note, 300))}`);
}

interface RetryFlags extends OpenRequest, QueryCommandFlags {
  readonly query?: number | undefined;
}

export async function retryCommand(
  id: string,
  { services, io, flags }: CommandInput<RetryFlags>,
): Promise<number> {
  const { conversation: _id, ...own } = await inOwnWorkspace({ services, flags: { ...flags, conversation: id } });
  return await withSession(services.open({ ...own, oneRequest: true }), async (session) => {
    const { conversations, workspace } = session;
    const note = (text: string) => flags.quiet || io.stderr(`vis · ${visibleText(text)}\n`);
    const branch = await conversations.records.follow(await conversations.byId(id), {
      ...{ workspace, note },
      isChosen: flags.cwd !== undefined,
    });
    const queries = await conversations.queries(branch);
    const query = queries.at(flags.query === undefined ? -1 : flags.query - 1);
    if (!query) {
      const which = flags.query === undefined ? "the last request" : `request ${flags.query}`;
      throw new UsageError(`Cannot retry ${which}: the branch has ${countedChoice(queries.length, "request")}`);
    }
    return await runQueryCommand({
      io,
      flags,
      schema: false,
      begin: async (options, progress) => {
        const which = `request ${queries.indexOf(query) + 1} of ${branch.conversationId.slice(0, ID_CHARS)}`;
        if (!flags.quiet) {
          progress.line(`vis · ${session.provider} ${session.model} · retrying ${which}`);
          progress.line(visibleText(oneLine(query.text, 200)));
        }
        tell(flags.quiet ? session.problems : session.notes, progress);
        return await conversations.retry(query.queryId, { ...options, seenFrom: branch });
      },
    });
  });
}

/** An image that Vis cannot attach becomes a plain path, so that the request has only one note about it. */
export async function withNamedImages(
  prompt: string,
  { typed, images, session, note }: {
    readonly typed: string;
    readonly images: readonly Image[];
    readonly session: Pick<Session, "workspace" | "conversations">;
    readonly note: (text: string) => void;
  },
): Promise<{ readonly text: string; readonly images: readonly Image[] }> {
  const { atWords } = await import("../../../domain/image_paths.ts");
  const { workspace, conversations } = session, named = new Set(atWords(typed).map(({ path }) => path));
  const all = [...images], chips = new Map<string, string>();
  for (const path of named) {
    const file = await Deno.realPath(resolve(workspace, path)).catch(() => null);
    if (file === null || !isWithin(file, workspace)) continue;
    try {
      const image = await readImageFile(file, path);
      await conversations.check({ images: [...all, image] });
      chips.set(path, `[image ${all.push(image)}: ${path}]`);
    } catch (error) {
      note(`@${path} is not attached: ${messageOf(error)}`);
      chips.set(path, path);
    }
  }
  let text = prompt;
  for (const { path, start, end } of atWords(prompt)) {
    const chip = chips.get(path), at = start + text.length - prompt.length;
    if (chip !== undefined) text = text.slice(0, at) + chip + text.slice(at + end - start);
  }
  return { text, images: all };
}

const STDIN = "-";

export function optionReadsStdin(
  { context, image = [] }: { readonly context?: string | undefined; readonly image?: readonly string[] | undefined },
): boolean {
  const named = [
    ...context === STDIN ? ["--context -"] : [],
    ...image.filter((one) => one === STDIN).map(() => "--image -"),
  ];
  if (named.length < 2) return named.length > 0;
  throw new UsageError(
    `Cannot use ${named.join(" and ")} together: each reads all of stdin; write one input to a file`,
  );
}

export async function readContextArgument(
  path: string,
  io: Pick<Io, "stdinPieces">,
): Promise<(signal: AbortSignal | undefined) => NonNullable<AskOptions["context"]>> {
  if (path === STDIN) {
    return (signal) => ({ label: "stdin", json: false, pieces: untilAborted(io.stdinPieces(), { path, signal }) });
  }
  const found = await Deno.stat(path).catch((error: unknown) => {
    throw new UsageError(`Cannot use --context ${path}: ${fileFault(error)}; name another file`);
  });
  if (found.isDirectory) throw new UsageError(`Cannot use --context ${path}: it is a folder; name a file`);
  return (signal) => ({
    label: basename(path),
    json: /\.json$/i.test(path),
    pieces: untilAborted(piecesOfInput(path), { path, signal }),
  });
}

async function* untilAborted(
  given: AsyncIterable<Uint8Array>,
  { path, signal }: { readonly path: string; readonly signal: AbortSignal | undefined },
): AsyncGenerator<Uint8Array> {
  const pieces = given[Symbol.asyncIterator]();
  for (;;) {
    const { value, done } = await abortable(pieces.next(), signal).catch((error: unknown) => {
      if (signal?.aborted) throw new Cancelled("Cannot read the context: the request was cancelled");
      throw new UsageError(`Cannot use --context ${path}: ${fileFault(error)}; name another file`);
    });
    if (done) return;
    yield value;
  }
}

const MAX_BYTES = 4_000_000;

export async function readSchema(path: string): Promise<unknown> {
  const text = await textOf(path);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(
      `Cannot use schema ${path}: it is not JSON (${oneLine(messageOf(error), 200)}); correct the file`,
    );
  }
}

async function textOf(path: string): Promise<string> {
  try {
    const bytes = new ByteBuffer();
    for await (const piece of piecesOfInput(path)) {
      bytes.push(piece);
      if (bytes.length > MAX_BYTES) {
        throw new UsageError(`Cannot use schema ${path}: it is larger than ${MAX_BYTES} bytes, the limit; simplify it`);
      }
    }
    const decoded = decodeText(bytes.bytes);
    if (decoded === null) {
      throw new UsageError(
        `Cannot use schema ${path}: it contains binary data, not text; name a file with a JSON schema`,
      );
    }
    return decoded.text;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`Cannot use schema ${path}: ${fileFault(error)}; name another file`);
  }
}

export async function readImageArgument(given: string): Promise<Image> {
  if (/^(?:https?|data):/i.test(given)) return readImage(given, given.slice(0, 80));
  return await readImageFile(given);
}

async function readPipedImage(io: Pick<Io, "stdinPieces">): Promise<Image> {
  const bytes = new ByteBuffer();
  for await (const piece of io.stdinPieces()) {
    bytes.push(piece);
    if (bytes.length > MAX_IMAGE_BYTES) {
      throw new UsageError(
        `Cannot use --image -: stdin has more than ${MAX_IMAGE_BYTES} bytes, the limit; make the image smaller`,
      );
    }
  }
  return readImage(bytes.bytes, "stdin");
}

const PIECE = 1 << 20;

/** Opening a named pipe without a writer cannot be cancelled, so Vis holds the pipe open for writing until the first
 * bytes arrive. */
async function* piecesOfInput(path: string): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const { isFifo } = await Deno.lstat(path);
  let writer = isFifo ? await Deno.open(path, { read: true, write: true }) : null;
  try {
    using file = await Deno.open(path);
    const buffer = new Uint8Array(PIECE);
    for (let got = await file.read(buffer); got !== null; got = await file.read(buffer)) {
      writer?.close();
      writer = null;
      yield buffer.slice(0, got);
    }
  } finally {
    writer?.close();
  }
}

/** An inherited stdin may stay open, so Vis reports after this time that it waits for stdin. */
const PATIENCE_MS = 1_000;

export async function readPrompt(
  words: readonly string[],
  io: Io,
  { quiet = false, timeout, patienceMs = PATIENCE_MS, ...inputs }: Parameters<typeof optionReadsStdin>[0] & {
    readonly quiet?: boolean;
    readonly timeout?: number | undefined;
    readonly patienceMs?: number;
  } = {},
): Promise<string> {
  const given = words.length === 1 && words[0] === STDIN ? "" : words.join(" ").trim();
  const piped = optionReadsStdin(inputs) || io.stdinIsTerminal
    ? ""
    : (await readPiped(given, { io, timeout, patienceMs: quiet ? null : patienceMs })).trimEnd();
  if (piped.includes("\0")) {
    throw new UsageError(
      "Cannot read stdin: it contains a NUL character, so it is not text; write it to a file, and name the file in the " +
        "request, or pass an image with vis run --image -",
    );
  }
  if (given && piped) return `${given}\n\n${piped}`;
  const prompt = given || piped;
  if (prompt.trim() === "") {
    throw new UsageError('Cannot read the request: its text is empty; write a request, such as "List the routes"');
  }
  return prompt;
}

async function readPiped(
  given: string,
  { io, timeout, patienceMs }: {
    readonly io: Io;
    readonly timeout: number | undefined;
    readonly patienceMs: number | null;
  },
): Promise<string> {
  const without = given === "" ? "" : " (append </dev/null to run without it)";
  const tell = (): void => io.stderr(`vis: waiting for the end of stdin${without}\n`);
  const timer = patienceMs === null ? 0 : setTimeout(tell, patienceMs);
  const late = Promise.withResolvers<never>();
  const limit = timeout === undefined ? 0 : setTimeout(() => {
    const advice = given === ""
      ? "; end the input, or set a longer --timeout"
      : "; append </dev/null to run without it";
    late.reject(
      new UsageError(
        `Cannot read the request: stdin did not end within ${timeout / 1000} s, the limit of --timeout${advice}`,
      ),
    );
  }, timeout);
  try {
    return await Promise.race([io.readStdin(), late.promise]);
  } finally {
    clearTimeout(timer);
    clearTimeout(limit);
  }
}

export async function requestOfWords(
  text: string,
  { services, flags, commandNamed }:
    & Pick<Context, "services" | "commandNamed">
    & Pick<CommandInput<OpenRequest>, "flags">,
): Promise<TypedRequest> {
  const command = typedCommand(text);
  if (command === null) return { text };
  const { name } = command;
  if (Object.hasOwn(SCREEN_COMMANDS, name)) throw onlyOnScreen(name, SCREEN_COMMANDS[name]);
  const prompts = name === "plan" ? [] : await services.prompts(flags);
  const prompt = prompts.find((one) => one.name === name)?.text ?? null;
  const request = requestOfCommand(command, prompt);
  if (request === null) {
    const added = await (await services.extensionAdmin(flags)).commands();
    if (added.some((one) => one.name === name)) throw onlyOnScreen(name, `vis ${name}`);
    const others = [...prompts, ...added].map((one) => one.name);
    const near = nearestName(name, [...Object.keys(SCREEN_COMMANDS), "plan", "review", ...others]);
    const isMistake = command.rest.trim() === "" || near !== null && !existsSync(`/${name}`);
    if (!isMistake) return { text };
    throw await unknownSlash(name, { near, commandNamed });
  }
  if (request.text === "") throw withoutWords(name);
  return request;
}

async function unknownSlash(
  name: string,
  { near, commandNamed }: Pick<Context, "commandNamed"> & { readonly near: string | null },
): Promise<UsageError> {
  const { FAMILIAR_WORDS } = await import("../../../domain/familiar_words.ts");
  const words = commandNamed(name);
  const ours = Object.hasOwn(FAMILIAR_WORDS, name)
    ? `Vis has ${FAMILIAR_WORDS[name]}`
    : words !== null
    ? `Vis has vis ${words}`
    : near === null
    ? "vis help lists the commands"
    : `did you mean /${near}?`;
  return new UsageError(`Cannot run /${name}: Vis has no command, prompt or skill of this name; ${ours}`);
}

function onlyOnScreen(name: string, ours = ""): UsageError {
  const way = ours === "" ? "start interactive mode with vis, and run it there" : `use ${ours}`;
  return new UsageError(`Cannot run /${name}: a request of the command line cannot be this command; ${way}`);
}

export interface PromptFlags extends OpenRequest {
  readonly context?: string | undefined;
  readonly conversation?: string | undefined;
  readonly iteration?: number | undefined;
  readonly json: boolean;
}

export async function promptCommand(
  { text: prompt, only }: TypedRequest,
  { services, io, flags: named }: CommandInput<PromptFlags>,
): Promise<number> {
  const asked = prompt.trim() !== "";
  const flags = asked ? await inOwnWorkspace({ services, flags: named }) : named;
  if (flags.iteration !== undefined && flags.conversation === undefined) {
    throw new UsageError("Cannot show a step: no conversation is named; add --conversation to --iteration");
  }
  if (asked && flags.iteration !== undefined) {
    throw new UsageError(
      "Cannot show both a request and a stored step: they exclude each other; omit the request or --iteration",
    );
  }
  if (!asked && flags.context !== undefined) {
    throw new UsageError(
      "Cannot use --context with a stored step: only a request has a context; write a request, or omit --context",
    );
  }
  const context = flags.context === undefined ? undefined : await readContextArgument(flags.context, io);
  // `vis prompt` makes no model call, so a user without a provider can see the prompt.
  const withoutProvider = () => services.open({ ...flags, browse: true });
  const opening = asked
    ? services.open(flags).catch((error: unknown) => {
      if (error instanceof ConfigError && error.code === "no_provider") return withoutProvider();
      throw error;
    })
    : withoutProvider();
  return await withSession(opening, async (session) => {
    const branch = flags.conversation !== undefined ? await session.conversations.byId(flags.conversation) : null;
    const messages = branch && !asked
      ? await stored(session, { branch, iteration: flags.iteration })
      : await session.conversations.preview(prompt, branch ? { branch } : { workspace: session.workspace }, {
        only,
        context: context?.(undefined),
      });
    print(messages, { io, json: flags.json });
    return 0;
  });
}

async function stored(
  { conversations }: Session,
  { branch, iteration }: { readonly branch: Conversation; readonly iteration: number | undefined },
): Promise<readonly SentMessage[]> {
  const query = (await conversations.queries(branch)).at(-1);
  if (!query) {
    throw new UsageError(
      `Cannot show a step: branch ${branch.branchId} has no request yet; send one first`,
    );
  }
  const rows = await conversations.iterations(query.queryId, shownRange(query));
  const row = iteration === undefined ? rows.at(-1) : rows[iteration - 1];
  const found = row && await conversations.sentMessages(query.queryId, row.position);
  if (found) return found;
  if (row) {
    throw new UsageError(
      `Cannot show step ${row.position + 1} of the latest request: another process deleted the conversation`,
    );
  }
  if (rows.length === 0) throw new UsageError("Cannot show a step of the latest request: it has no steps");
  throw new UsageError(
    `Cannot show step ${iteration} of the latest request: it has ${countedChoice(rows.length, "step")}`,
  );
}

function print(messages: readonly SentMessage[], { io, json }: { readonly io: Io; readonly json: boolean }): void {
  const sized = messages.map(({ role, text }) => ({ role, ...sizeOf(text), text }));
  const total = {
    bytes: sized.reduce((sum, { bytes }) => sum + bytes, 0),
    tokens: sized.reduce((sum, { tokens }) => sum + tokens, 0),
  };
  if (json) return io.stdout(jsonText({ ...total, messages: sized }, { indent: 2 }));
  for (const [at, { role, bytes, tokens, text }] of sized.entries()) {
    const shown = io.stdoutIsTerminal ? visibleText(text) : text;
    io.stdout(`=== ${at + 1} ${role}: ${bytes} bytes, about ${tokens} tokens\n${shown}\n\n`);
  }
  io.stdout(`=== ${sized.length} messages: ${total.bytes} bytes, about ${total.tokens} tokens\n`);
}

/** No tokenizer fits all models, so the estimate is four characters per token. */
function sizeOf(text: string): { readonly bytes: number; readonly tokens: number } {
  return { bytes: new TextEncoder().encode(text).length, tokens: Math.ceil(text.length / 4) };
}
