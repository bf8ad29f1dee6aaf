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
  read: z.array(z.string().startsWith("/")).default([]).describe(
    "Folders and files beside the system's and the workspace that commands may read and run",
  ).meta({ programs: "read" }),
}).prefault({});
