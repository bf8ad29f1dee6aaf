import { fileURLToPath } from "node:url";

export const ROOT: string = fileURLToPath(new URL("../", import.meta.url));
