import debug from "../../../extensions/debug/mod.ts";
import fs from "../../../extensions/fs/mod.ts";
import git from "../../../extensions/git/mod.ts";
import history from "../../../extensions/history/mod.ts";
import mcp from "../../../extensions/mcp/mod.ts";
import memo from "../../../extensions/memo/mod.ts";
import rlm from "../../../extensions/rlm/mod.ts";
import shell from "../../../extensions/shell/mod.ts";
import skills from "../../../extensions/skills/mod.ts";
import web from "../../../extensions/web/mod.ts";
import type { Extension } from "../../../src/extension/mod.ts";

/** These extensions have functions of the main process. */
export const SHIPPED: readonly Extension[] = [debug, fs, git, history, mcp, memo, rlm, shell, skills, web];
