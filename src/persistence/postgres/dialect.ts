import {
  type DatabaseIntrospector,
  type Dialect,
  type DialectAdapter,
  type Driver,
  type Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type PrimitiveValueListNode,
  type QueryCompiler,
  type RawNode,
} from "kysely";
import { isIntactText } from "../schema/intact.ts";
import { snakeCase } from "../schema/snake_case.ts";

/** Kysely's PostgreSQL dialect on our own driver, with camel case for names. */
export class PostgresDialect implements Dialect {
  readonly #driver: Driver;

  constructor(driver: Driver) {
    this.#driver = driver;
  }

  createDriver(): Driver {
    return this.#driver;
  }

  createQueryCompiler(): QueryCompiler {
    return new SnakeCaseCompiler();
  }

  createAdapter(): DialectAdapter {
    return new PostgresAdapter();
  }

  createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
    return new PostgresIntrospector(db);
  }
}

const SNAKE = new Map<string, string>();

class SnakeCaseCompiler extends PostgresQueryCompiler {
  protected override sanitizeIdentifier(identifier: string): string {
    let name = SNAKE.get(identifier);
    if (name === undefined) {
      name = snakeCase(super.sanitizeIdentifier(identifier));
      SNAKE.set(identifier, name);
    }
    return name;
  }

  /** SQLite has empty lists, which nothing is in. */
  protected override visitPrimitiveValueList(node: PrimitiveValueListNode): void {
    if (node.values.length === 0) this.append("(NULL)");
    else super.visitPrimitiveValueList(node);
  }

  /** PostgreSQL verifies its pages itself. */
  protected override visitRaw(node: RawNode): void {
    if (isIntactText(node.sqlFragments[0] ?? "")) this.append("true");
    else super.visitRaw(node);
  }
}
