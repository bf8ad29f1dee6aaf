import { z } from "zod";

export default z.strictObject({
  name: z.string().min(1).optional().describe("Name of the author of commits, before those that git is set to"),
  email: z.string().min(1).optional().describe("Address of the author of commits"),
}).prefault({});
