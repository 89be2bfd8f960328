import { DatabaseError } from 'pg';

import { errorMessageOf } from '../platform/caught.ts';

/**
 * - `unavailable`: Postgres didn't answer, or not in time; the same call may succeed later.
 * - `schema`: migrations are missing; `parley migrate` applies them.
 * - `refused`: Postgres turned the login or the role away; a person has to correct the configuration.
 * - `not_found`, `conflict`, `invalid`: about the arguments of the call.
 * - `internal`: a defect of this code or of the database.
 */
export type StoreErrorKind = 'unavailable' | 'schema' | 'refused' | 'not_found' | 'conflict' | 'invalid' | 'internal';

/** Every failure of the store. Messages carry no values of rows or parameters. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly kind: StoreErrorKind;
  /** Postgres' own five-character code, where it answered with one. */
  readonly sqlState: string | undefined;

  constructor(kind: StoreErrorKind, message: string, options?: { readonly sqlState?: string | undefined; readonly cause?: unknown }) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.sqlState = options?.sqlState;
  }

  /** True if the same call may succeed later, unchanged. */
  get retryable(): boolean {
    return this.kind === 'unavailable';
  }
}

/** SQLSTATE prefixes, longest match first. Source: appendix A of the PostgreSQL manual. */
const kinds: readonly (readonly [prefix: string, kind: StoreErrorKind, message: string])[] = [
  ['57P04', 'refused', 'the database was dropped'],
  ['57P', 'unavailable', 'Postgres is shutting down or starting'],
  ['57014', 'unavailable', 'Postgres did not finish the statement in time'],
  ['55P03', 'unavailable', 'Postgres could not get a lock in time'],
  ['25P0', 'unavailable', 'Postgres ended a transaction that took too long'],
  ['25006', 'unavailable', 'Postgres is read-only at the moment (a standby, or a failover under way)'],
  ['08', 'unavailable', 'the connection to Postgres failed'],
  ['53', 'unavailable', 'Postgres is out of connections, memory or disk'],
  ['58', 'unavailable', 'Postgres had a system error'],
  ['40', 'unavailable', 'Postgres rolled the transaction back because of another one'],
  ['42P01', 'schema', 'a table is missing: run `parley migrate`'],
  ['42883', 'schema', 'a function is missing: run `parley migrate`'],
  ['42703', 'schema', 'a column is missing: run `parley migrate`'],
  ['3F000', 'schema', 'the schema is missing: run `parley migrate`'],
  ['28', 'refused', 'Postgres refused the user or the password in DATABASE_URL'],
  ['3D000', 'refused', 'the database named in DATABASE_URL does not exist'],
  ['42501', 'refused', 'the database user lacks a permission'],
  ['23', 'conflict', 'the write conflicts with what is stored'],
  ['23514', 'invalid', 'a value is outside its bounds'],
  ['23502', 'invalid', 'a value is missing'],
  ['22', 'invalid', 'a value cannot be stored'],
];

const kindsByLength = kinds.toSorted(([a], [b]) => b.length - a.length);

const MISSING_ROLE = ['22023', 'schema', 'a role is missing: run `parley migrate`'] as const;

/** Postgres has one code for all parameters that it can't use: those of `SET ROLE`, and those of a request. */
const isMissingRole = ({ code, message }: DatabaseError): boolean => code === '22023' && /^role .* does not exist$/s.test(message);

/** Turns any error of the driver into a {@link StoreError}; a StoreError stays as it is. */
export function toStoreError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  if (error instanceof DatabaseError && error.code !== undefined) {
    const sqlState = error.code;
    const found = isMissingRole(error) ? MISSING_ROLE : kindsByLength.find(([prefix]) => sqlState.startsWith(prefix));
    // `detail` may hold values of the row, so that the driver's error is not passed on as the cause.
    return found === undefined
      ? new StoreError('internal', `Postgres: ${error.message}`, { sqlState })
      : new StoreError(found[1], `${found[2]} (Postgres: ${error.message})`, { sqlState });
  }
  if (error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError) {
    return new StoreError('internal', `a defect in the store: ${error.message}`, { cause: error });
  }
  // The driver itself writes this message when the server requires a password and it is missing or of the wrong kind.
  if (error instanceof Error && error.message.startsWith('SASL:'))
    return new StoreError('refused', `Postgres refused the login: ${error.message}`);
  return new StoreError('unavailable', `no answer from Postgres: ${errorMessageOf(error)}`, { cause: error });
}
