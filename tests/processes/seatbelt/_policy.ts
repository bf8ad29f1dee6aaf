import type { SeatbeltPolicy } from "../../../src/processes/seatbelt/profile.ts";

export const HOME = "/Users/ada", WORKSPACE = `${HOME}/app`, VIS_HOME = `${HOME}/.vis`;
export const FOLDER = "/private/var/folders/zz/T/vis-command-1";

export const POLICY: SeatbeltPolicy = {
  read: [
    { path: WORKSPACE, folder: true },
    { path: `${HOME}/.nvm`, folder: true },
    { path: `${HOME}/tools/one`, folder: false },
    { path: "/Applications/Xcode.app/Contents", folder: true },
  ],
  write: [{ path: WORKSPACE, folder: true }, { path: FOLDER, folder: true }],
  kept: [`${WORKSPACE}/.git`, `${WORKSPACE}/.vis`, `${WORKSPACE}/lib/sub/.git`],
  opened: [],
  hidden: [`${WORKSPACE}/.env`, `${WORKSPACE}/conf/keys.json`],
  devices: ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"],
  network: false,
};
