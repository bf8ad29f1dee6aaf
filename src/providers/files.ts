import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Cancelled, ConfigError, fileFault, isDenied, ProviderError } from "../domain/errors.ts";
import {
  type Capabilities,
  estimatedUsage,
  type ModelEvent,
  type ModelRequest,
  type Provider,
  UNKNOWN_MODEL,
} from "./provider.ts";

const POLL_MS = 100;
const PRICE = { input: 0, output: 0, cached: 0 };

/** A person or a program plays the model by writing replies into `folder`. */
export async function filesProvider(folder: string): Promise<Provider> {
  try {
    await Deno.mkdir(folder, { recursive: true });
  } catch (error) {
    throw new ConfigError(
      `Cannot use the folder ${folder} for requests and replies: ${
        fileFault(error)
      }; name another with --model or VIS_MODEL`,
    );
  }
  return {
    name: "files",
    defaultModel: folder,
    stream: (request) => exchange(folder, request),
    models: ({ signal }) => signal.aborted ? Promise.reject(new Cancelled("Cancelled")) : Promise.resolve([folder]),
    capabilities: (): Capabilities => ({ ...UNKNOWN_MODEL, images: true, price: PRICE }),
  };
}

async function* exchange(folder: string, { messages, model, signal }: ModelRequest): AsyncGenerator<ModelEvent> {
  if (signal.aborted) throw new Cancelled("Cancelled");
  let number: string;
  try {
    number = await writeRequest(folder, requestText(messages));
  } catch (error) {
    throw new ProviderError(
      `Cannot write the model call to ${folder}: ${fileFault(error)}; name another folder with --model`,
      {
        code: "refused",
        retryable: false,
      },
    );
  }
  const text = await completeReply(join(folder, `${number}.reply.txt`), signal);
  yield { type: "text", delta: text };
  yield { type: "end", usage: estimatedUsage(messages, text), model, finish: "stop" };
}

function requestText(messages: ModelRequest["messages"]): string {
  return messages.map(({ role, text, images = [] }, at) => {
    const pictures = images.map((_, index) => `[image ${index + 1}]\n`).join("");
    return `===== message ${at + 1} of ${messages.length}: ${role} =====\n${pictures}${text}\n`;
  }).join("\n");
}

async function writeRequest(folder: string, text: string): Promise<string> {
  const draft = await Deno.makeTempFile({ dir: folder, prefix: ".request-" });
  try {
    await Deno.writeTextFile(draft, text);
    for (let number = await largestNumber(folder) + 1;; number++) {
      const name = String(number).padStart(3, "0");
      try {
        // A link fails if another call took the number, and a rename would replace the file of that call.
        await Deno.link(draft, join(folder, `${name}.request.txt`));
        return name;
      } catch (error) {
        if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
      }
    }
  } finally {
    await Deno.remove(draft);
  }
}

async function largestNumber(folder: string): Promise<number> {
  let largest = 0;
  for await (const { name } of Deno.readDir(folder)) {
    largest = Math.max(largest, Number(/^(\d+)\.(?:request|reply)\.txt$/.exec(name)?.[1] ?? 0));
  }
  return largest;
}

/** The writer may still write, so Vis takes the reply after reading the same text twice. */
async function completeReply(path: string, signal: AbortSignal): Promise<string> {
  for (let before = "";;) {
    const text = await Deno.readTextFile(path).catch((error: unknown) => {
      if (error instanceof Deno.errors.NotFound) return "";
      const advice = isDenied(error) ? "; let Vis read this file" : "";
      throw new ProviderError(`Cannot read the reply ${path}: ${fileFault(error)}${advice}`, {
        code: "refused",
        retryable: false,
      });
    });
    if (text.trim() !== "" && text === before) return text;
    before = text;
    await delay(POLL_MS, undefined, { signal }).catch(() => {
      throw new Cancelled("Cancelled");
    });
  }
}
