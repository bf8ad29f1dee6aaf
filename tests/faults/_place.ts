import { join } from "node:path";

export interface Place {
  readonly path: string;
  readonly workspace: string;
}

export async function inPlace(work: (place: Place) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "vis-fault-" });
  const place = { path: join(folder, "vis.db"), workspace: join(folder, "work") };
  await Deno.mkdir(place.workspace);
  try {
    await work(place);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
