import type { Database } from './database.ts';

/** The statements about a group of tables. */
export abstract class Repository {
  protected readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }
}
