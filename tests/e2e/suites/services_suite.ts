import assert from "node:assert/strict";
import { CHROMIUM } from "../../helpers/browser/chromium.ts";
import { noPostgres, postgresFolder } from "../../helpers/postgres.ts";
import { replyJson } from "../../helpers/scripted_provider.ts";
import { mayMake } from "../../processes/_place.ts";
import type { Launcher } from "../_launcher.ts";
import { launched } from "../helpers/together.ts";
import { User } from "../helpers/user.ts";

const NOBODY = 65534;
const noNetwork = mayMake ? "" : "commands have no network of their own here";
const PAGE = "<title>x</title><script>document.title = 'sum ' + (3 + 4)</script>";
/** A server of one page, in a language that every Debian has. */
const SERVE =
  `use Socket; socket(S, AF_INET, SOCK_STREAM, 0) or die "socket: $!"; setsockopt(S, SOL_SOCKET, SO_REUSEADDR, 1);
bind(S, sockaddr_in(8123, INADDR_LOOPBACK)) or die "bind: $!"; listen(S, 5); $| = 1; print "up\\n";
while (accept(C, S)) { sysread(C, $_, 4096); print C "HTTP/1.0 200 OK\\r\\nContent-Type: text/html\\r\\n\\r\\n", <<'END'; close C }
${PAGE}
END
`;

/** Tests start servers as a project's tests do. Commands without any setting run them, and reach them in their own
 * network. */
export function servicesSuite(launcher: Launcher): void {
  const browser = CHROMIUM === "" ? "there is no Chromium" : noNetwork;
  launched(
    { ...launcher, missing: launcher.missing || browser },
    "commands open a page of their own server in Chromium",
    async () => {
      // Chromium's own sandbox needs namespaces, which no command can make.
      const open =
        `${CHROMIUM} --headless --no-sandbox --disable-gpu --virtual-time-budget=5000 --dump-dom http://localhost:8123/`;
      await using user = await User.make(launcher, {
        reply: [
          block(`await shell.start(["perl", "-e", ${JSON.stringify(SERVE)}], {until: "up", waitMs: 20_000});
          const page = await shell.run(${JSON.stringify(open)}); page`),
          replyJson([], { final: "{{page.stdout}}" }),
        ],
      });
      // Paths of unix sockets must be short.
      const { stdout } = await user.run(["run", "x"], { env: { TMPDIR: "/tmp" } });
      assert.match(stdout, /<title>sum 7<\/title>/, user.mock.requests.at(-1)?.context);
    },
  );

  const database = noPostgres || noNetwork ||
    (Deno.uid() === 0 && launcher.name === "source" ? "PostgreSQL refuses root" : "");
  launched(
    { ...launcher, missing: launcher.missing || database },
    "commands use a PostgreSQL server of their own",
    async () => {
      const data = "initdb -D data -A trust -U vis --no-sync";
      const start =
        'postgres -D data -c listen_addresses=127.0.0.1 -c port=5433 -c fsync=off -c unix_socket_directories="$PWD"';
      const ask = (host: string) => `psql -h ${host} -p 5433 -U vis -At postgres -c "select 3 + 4"`;
      await using user = await User.make(asOrdinaryUser(launcher), {
        reply: [
          block(`const env = {PATH: ${JSON.stringify(`${postgresFolder}:/usr/bin:/bin`)}};
          const made = await shell.run(${JSON.stringify(data)}, {env});
          const server = await shell.start(${JSON.stringify(start)}, {env, until: "ready to accept", waitMs: 60_000});
          const sums = await shell.run(${JSON.stringify(`${ask("127.0.0.1")}; ${ask('"$PWD"')}`)}, {env});
          await shell.stop(server.id); [made, server, sums]`),
          replyJson([], { final: "{{sums.stdout}}" }),
        ],
      });
      if (Deno.uid() === 0) {
        for (const path of [user.folder, user.home, user.workspace, user.temporary]) {
          await Deno.chown(
            path,
            NOBODY,
            NOBODY,
          );
        }
      }
      const { stdout } = await user.run(["run", "x"]);
      assert.equal(stdout, "7\n7\n", user.mock.requests.at(-1)?.context);
    },
  );
}

/** PostgreSQL refuses to run as root. */
function asOrdinaryUser(launcher: Launcher): Launcher {
  if (Deno.uid() !== 0) return launcher;
  return {
    ...launcher,
    argv: ["/usr/bin/setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups", ...launcher.argv],
  };
}

function block(expr: string): string {
  return JSON.stringify({ code: [{ expr, timeMs: 120_000 }] });
}
