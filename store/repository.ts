import type { Database } from './database.ts';

/** Base of the classes that hold the statements for a group of tables. */
export abstract class Repository {
  protected readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }
}
