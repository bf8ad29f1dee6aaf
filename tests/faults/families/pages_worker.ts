import { type FlipOptions, flipTries } from "../flip_tries.ts";

export type PagesTask = Pick<FlipOptions, "count" | "reads" | "seed" | "folder">;

const scope = globalThis as unknown as {
  onmessage: (event: MessageEvent<PagesTask>) => void;
  postMessage(message: unknown): void;
};

scope.onmessage = async ({ data }) => scope.postMessage(await flipTries(data));
