import {
  type DatabaseIntrospector,
  type Dialect,
  type DialectAdapter,
  type Driver,
  type Kysely,
  type QueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import { snakeCase } from "../schema/snake_case.ts";

/** Kysely's SQLite dialect on our own driver. Queries use camel case for tables and columns, the database snake
 * case. */
export class SqliteDialect implements Dialect {
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
    return new OwnAdapter();
  }

  createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
    return new SqliteIntrospector(db);
  }
}

/** The driver itself queues access to the one connection. */
class OwnAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

const SNAKE = new Map<string, string>();

class SnakeCaseCompiler extends SqliteQueryCompiler {
  /** A row needs no lock: there is one writer at a time. */
  protected override visitSelectModifier(): void {}

  protected override sanitizeIdentifier(identifier: string): string {
    let name = SNAKE.get(identifier);
    if (name === undefined) {
      name = snakeCase(super.sanitizeIdentifier(identifier));
      SNAKE.set(identifier, name);
    }
    return name;
  }
}
