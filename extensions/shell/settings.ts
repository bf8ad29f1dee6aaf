import { z } from "zod";

const pattern = z.string().min(1);

export default z.strictObject({
  enabled: z.boolean().default(true).describe("Whether blocks may run commands in the workspace, by shell.run"),
  allow: z.array(pattern).default([]).describe(
    "Commands that may run, * for any text; where there are some, no other one may",
  ),
  deny: z.array(pattern).default([]).describe("Commands that may not run, * for any text").meta({ project: true }),
  network: z.boolean().default(false).describe("Whether commands get TCP, to anywhere; else no network at all")
    .meta({ programs: "network" }),
  unwalled: z.enum(["ask", "run", "off"]).default("ask").describe(
    "Where the wall around commands is not whole: ask the user for each command, run it without a question, or run none; no workspace's settings may set it",
  ).meta({ programs: "unwalled" }),
  read: z.array(z.string().startsWith("/")).default([]).describe(
    "Folders and files beside the system's and the workspace that commands may read and run",
  ).meta({ programs: "read" }),
}).prefault({});
