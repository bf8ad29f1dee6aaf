import { decode, encode } from "../../codec/codec.ts";
import { type Bytes, type Frame, FrameFields, type Header, ProtocolError, wireId } from "../../protocol.ts";
import { blockError } from "../errors/block_error.ts";
import { checkedImage } from "./checked_image.ts";
import type { FrameWriter } from "./frame_writer.ts";
import { fail } from "./fail.ts";
import type { HintFacts } from "../errors/hints.ts";
import { imageList } from "../variables/image_list.ts";
import type { CallMessage, FromWorker } from "../link/messages.ts";
import { prepareBlock } from "../prepare/prepare_block.ts";
import { type RanBlock, RanBlocks } from "../errors/ran_blocks.ts";
import { RelayLink } from "../link/relay_link.ts";
import type { Setup } from "../setup/setup.ts";
import type { SucraseTransform } from "../prepare/sucrase_loader.ts";

export interface RelayOptions {
  readonly setup: Setup;
  readonly writer: FrameWriter;
  readonly port: MessagePort;
  readonly loadSucrase: () => SucraseTransform;
}

const MAX_NAME = 1000;
const NAMES = { items: 100_000, length: MAX_NAME } as const;

/** Between the wire and the worker: checks and translates, assigns ids to calls. */
export class Relay {
  readonly #options: RelayOptions;
  /** To the worker. */
  readonly link: RelayLink;
  readonly #calls = new Map<string, number>();
  readonly #wireIds = new Map<number, string>();
  readonly #blocks = new RanBlocks();
  /** Names that blocks declared, and whether each is an asynchronous function. */
  readonly #declared = new Map<string, boolean>();
  /** The block that runs or ran last, and the names that it declares. */
  #ran: { readonly id: string; readonly block: RanBlock; readonly own: readonly string[] } | null = null;
  onUp: (up: Extract<FromWorker, { t: "up" }>) => void = () => {};

  constructor(options: RelayOptions) {
    this.#options = options;
    this.link = new RelayLink(options.port, (message) => this.#fromWorker(message));
  }

  /** Handles a frame from the main process. Throws ProtocolError. */
  receive({ header, payload }: Frame): void {
    const fields = new FrameFields(header, header.t);
    switch (header.t) {
      case "run":
        return this.#run(fields, payload);
      case "cancel":
        return this.link.post({ t: "cancel", id: fields.id() });
      case "answer":
        return this.#answer(fields, payload);
      case "ping":
        return this.link.post({ t: "ping", id: fields.id() });
      case "restore":
        return this.#restore(fields, payload);
      case "bind":
        return this.#bind(fields, payload);
      case "results":
        return this.link.post({ t: "results", id: fields.id(), payload });
      case "read":
        return this.#read(fields);
      case "forget":
        return this.link.post({ t: "forget", id: fields.id(), names: fields.texts("names", NAMES) });
      case "render":
        return this.link.post({ t: "render", id: fields.id(), deadlineMs: fields.amount("deadlineMs"), payload });
      case "module":
        return this.#module(fields, payload);
      case "endQuery":
        this.#blocks.endQuery();
        return this.link.post({ t: "endQuery", id: fields.nullable("id", (key) => fields.id(key)) });
      default:
        throw new ProtocolError(`Cannot take a frame "${header.t}"`);
    }
  }

  /** Parsing happens here and not in the worker: a block that replaces Array.prototype.push would break the parser. */
  #run(fields: FrameFields, payload: Bytes): void {
    const id = fields.id();
    const source = textOf(payload);
    const block = prepareBlock(source, { loadSucrase: this.#options.loadSucrase });
    if (!block.ok) {
      const { outcome, error, repaired } = block;
      return this.#send({ t: "done", id, more: false, error }, encode({ outcome, repaired }));
    }
    const deadlineMs = fields.amount("deadlineMs"), iteration = fields.amount("iteration");
    const index = fields.amount("index");
    const ran = this.#blocks.add({ code: block.code, map: block.map, source }, { iteration, index });
    const own = block.declarations.map(({ name }) => name);
    this.#ran = { id, block: ran, own };
    for (const { name, source: text } of block.declarations) this.#declared.set(name, text.startsWith("async"));
    const { map: _here, ...runnable } = block;
    this.link.post({
      t: "run",
      id,
      iteration,
      index,
      deadlineMs,
      block: runnable,
      defined: own,
      file: ran.file,
    });
  }

  #answer(fields: FrameFields, payload: Bytes): void {
    const wire = fields.id();
    const id = this.#calls.get(wire);
    if (id === undefined) throw new ProtocolError("Cannot take an answer that nobody asked for");
    this.#calls.delete(wire);
    this.#wireIds.delete(id);
    this.link.answer({ id, ok: fields.flag("ok"), payload });
  }

  /** Code is checked before it is evaluated: it may come from an imported file. */
  #restore(fields: FrameFields, payload: Bytes): void {
    const given = fields.flag("code") ? imageList(decode(payload)) : [];
    const images = given.map(checkedImage);
    const isChanged = images.some((image, at) => image !== given[at]);
    for (const { name, kind, source } of images) {
      this.#declared.set(name, kind === "function" && source.startsWith("async"));
      if (kind === "function" || kind === "class") this.#blocks.addRestored(name, source);
    }
    const checked = isChanged ? encode(images) : payload;
    this.link.post({ t: "restore", id: fields.id(), more: fields.flag("more"), payload: checked });
  }

  #module(fields: FrameFields, payload: Bytes): void {
    this.link.post({ t: "module", id: fields.id(), name: fields.text("name", MAX_NAME), script: textOf(payload) });
  }

  #read(fields: FrameFields): void {
    const name = fields.text("name", MAX_NAME), maxBytes = fields.amount("maxBytes");
    this.link.post({ t: "read", id: fields.id(), name, maxBytes });
  }

  /** Without an id, no answer is expected. */
  #bind(fields: FrameFields, payload: Bytes): void {
    const id = fields.nullable("id", (key) => fields.id(key));
    const name = fields.text("name", MAX_NAME), user = fields.flag("user");
    const part = fields.oneOf("part", ["whole", "more", "last"] as const);
    this.link.post({ t: "bind", id, name, user, part, payload });
  }

  #fromWorker(message: FromWorker): void {
    switch (message.t) {
      case "up":
        return this.onUp(message);
      case "call":
        return this.#call(message);
      case "calls":
        return this.#options.writer.together(() => message.calls.forEach((call) => this.#call(call)));
      case "waited":
        return this.#send({ t: message.t, id: message.id, ms: message.ms, goesOn: message.goesOn });
      case "settled":
      case "pong":
        return this.#send({ t: message.t, id: message.id });
      case "cancel":
        return this.#cancelCall(message.id);
      case "output":
        return this.#send({ t: "output", run: message.run, stream: message.stream }, message.payload);
      case "done":
        return this.#done(message);
      case "broken":
        return fail(`a block broke the realm: ${message.why}`);
    }
  }

  #cancelCall(call: number): void {
    const id = this.#wireIds.get(call);
    if (id !== undefined) this.#send({ t: "cancel", id });
  }

  #call({ id, run, name, payload }: CallMessage): void {
    const wire = wireId();
    this.#calls.set(wire, id);
    this.#wireIds.set(id, wire);
    this.#send({ t: "call", id: wire, run, name }, payload);
  }

  #done({ id, more, error, rests, payload }: Extract<FromWorker, { t: "done" }>): void {
    const ran = this.#ran;
    const mapped = error && ran?.id === id
      ? blockError(error, { ...ran, blocks: this.#blocks, hints: this.#hints })
      : null;
    this.#send({ t: "done", id, more, error: mapped, rests: rests === true }, payload);
  }

  get #hints(): Pick<HintFacts, "names" | "own" | "isAsync"> {
    const { functions } = this.#options.setup;
    return {
      names: [...functions, ...this.#declared.keys()],
      own: this.#ran?.own ?? [],
      isAsync: (path) => this.#declared.get(path) ?? functions.includes(path),
    };
  }

  #send(header: Header, payload?: Bytes): void {
    this.#options.writer.send(header, payload);
  }
}

function textOf(payload: Bytes): string {
  const text = decode(payload);
  if (typeof text !== "string") throw new ProtocolError("Cannot take code that is not text");
  return text;
}
