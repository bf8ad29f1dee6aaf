import assert from "node:assert/strict";
import { replyJson } from "../../helpers/scripted_provider.ts";
import type { Launcher } from "../_launcher.ts";
import { launched } from "../helpers/together.ts";
import { User } from "../helpers/user.ts";

const MAKE = `
// Rows of the report
const rows = [{ name: "a", n: 1 }, { name: "b", n: 2 }]
const seen = new Map([["a", new Set([1n, -0])]])
let total = 0
function sum(list: { n: number }[]): number { return list.reduce((all, { n }) => all + n, 0) }
const twice = (n: number) => sum(rows) * n
class Account {
  constructor(public owner: string, public balance = 0) {}
  add(n: number) { this.balance += n; return this }
  get text() { return this.owner + ":" + this.balance }
}
class Savings extends Account { rate = 2; grow() { return this.add(this.balance * this.rate) } }
class Hidden { #n = 1 }
const account = new Savings("Ann", 10)
const hidden = new Hidden()
total = sum(rows)`;

export function continueSuite(launcher: Launcher): void {
  launched(launcher, "vis run -c finds data, functions, classes and instances alive in a new process", async () => {
    await using user = await User.make(launcher, {
      reply: [
        replyJson(MAKE, { thinking: "lay the ground", final: "made {{total}}" }),
        replyJson(
          [
            "rows.push({ name: 'c', n: 4 })\ntotal = sum(rows)",
            "const grown = account.grow().text",
            "const kind = [account instanceof Savings, account instanceof Account, seen.get('a').has(1n), twice(3)].join()",
          ],
          { final: "{{total}} {{grown}} {{kind}}" },
        ),
        replyJson("const third = [total, account.text, rows.length, new Savings('Bob', 1).grow().balance].join()", {
          final: "third",
        }),
      ],
    });
    assert.equal((await user.run(["run", "make"])).stdout, "made 3\n");
    const second = await user.run(["run", "--continue", "use"]);
    assert.equal(second.stdout, "7 Ann:30 true,true,true,21\n", second.stderr);
    assert.match(second.stderr, / · 1 earlier$/m);
    const { context } = user.mock.requests[1] ?? { context: "" };
    assert.match(context, /lay the ground/);
    assert.match(context, /made 3/);
    assert.match(context, /<var_index>[\s\S]*rows[\s\S]*Rows of the report[\s\S]*<\/var_index>/);
    assert.match(context, /hidden.*lost: it is an instance of Hidden, which has private fields/);
    const third = await user.run(["run", "-c", "again"]);
    assert.equal(third.stdout, "7,Ann:30,3,3\n", third.stderr);
    assert.equal((await user.queries()).queries.length, 3);
  });
}

export function conversationsSuite(launcher: Launcher): void {
  launched(launcher, "vis run chooses the conversation that is meant", async () => {
    await using user = await User.make(launcher, {
      handler: ({ texts }) => replyJson(/one/.test(texts[1] ?? "") ? "const hidden = 1" : [], { final: "Yes it is" }),
    });
    const other = user.path("other"), link = user.path("link");
    await Deno.mkdir(other);
    await Deno.symlink(user.workspace, link);
    const ask = async (...args: readonly string[]): Promise<string> => {
      const { code, stdout, stderr } = await user.run(["run", "--output", "json", ...args]);
      assert.equal(code, 0, stderr);
      return JSON.parse(stdout).conversationId;
    };
    const first = await ask("-c", "one"); // No conversation can be continued yet.
    const second = await ask("two", "--cwd", other);
    assert.notEqual(second, first);
    // The conversation belongs to the workspace, whatever path leads to it.
    assert.equal(await ask("-c", "three", "--cwd", link), first);
    assert.match(user.mock.requests[2]?.context ?? "", /hidden/);
    const fourth = await ask("four"); // A new conversation begins without earlier data.
    assert.ok(fourth !== first && fourth !== second);
    assert.doesNotMatch(user.mock.requests[3]?.context ?? "", /hidden|Yes it is/);
    // The beginning of an id is enough, and a conversation moves between workspaces.
    assert.equal(await ask("five", "--conversation", first.slice(0, 18), "--cwd", other), first);
    assert.match(user.mock.requests[4]?.context ?? "", /hidden/);
    const short = await user.run(["run", "--conversation", first.slice(0, 4), "x"]);
    assert.deepEqual([short.code, short.stdout], [2, ""]);
    const listed = await user.look((store) => store.listConversations({ limit: 10 }));
    assert.deepEqual(listed.map(({ title }) => title).sort(), ["four", "one", "two"]);
  });

  launched(launcher, "vis run works in one database from several processes at once", async () => {
    await using user = await User.make(launcher, {
      handler: ({ texts }) =>
        replyJson(`const word = ${JSON.stringify(/word-\d/.exec(texts[1] ?? "")?.[0])}`, { final: "word" }),
    });
    const numbers = [1, 2, 3, 4];
    const ran = await Promise.all(numbers.map((at) => user.run(["run", `word-${at}`])));
    assert.deepEqual(ran.map(({ code, stdout }) => [code, stdout]), numbers.map((at) => [0, `word-${at}\n`]));
    const listed = await user.look((store) => store.listConversations({ limit: 10 }));
    assert.deepEqual(listed.map(({ title }) => title).sort(), numbers.map((at) => `word-${at}`));
  });
}
