import { Repository } from '../repository.ts';
/** Ownership of phone numbers: one claim for each number. A number passes to another organisation only here. */

export interface NumberOwner {
  readonly org: string;
  /** Uid of the PhoneNumber. */
  readonly uid: string;
  /** The number in E.164. */
  readonly number: string;
}

export interface NumberClaim extends Pick<NumberOwner, 'org' | 'uid'> {
  /** Time until which the organisation alone may have the number back after its PhoneNumber was deleted. Absent while that exists. */
  readonly reservedUntil?: Date;
  /** True if the reservation is over, by the clock of Postgres. */
  readonly expired: boolean;
}

export interface ClaimTerms {
  /** How long a number is reserved for its organisation, in milliseconds. */
  readonly reservedMs: number;
  /** The only organisations that may have the number; absent where any may. */
  readonly assignees?: readonly string[] | undefined;
}

/** Most numbers that {@link NumberClaims.list} returns. */
const LIST_LIMIT = 10_000;

interface Row extends NumberOwner {
  readonly until: Date | null;
  readonly expired: boolean | null;
}

/** Columns of a claim; `$1` is how long reservations last, in milliseconds. */
const COLUMNS = `org, uid, released_at + $1::float8 * interval '1 millisecond' AS until,
  released_at <= now() - $1::float8 * interval '1 millisecond' AS expired`;

export class NumberClaims extends Repository {
  /** Returns the claim of any organisation. */
  async get(number: string, { reservedMs }: Pick<ClaimTerms, 'reservedMs'>): Promise<(NumberOwner & NumberClaim) | undefined> {
    const [row] = await this.database.query<Row>(`SELECT $2::text AS number, ${COLUMNS} FROM parley.claim_of_number($2)`, [
      reservedMs,
      number,
    ]);
    return row && fromRow(row);
  }

  /**
   * Claims a number that no organisation has, that this one has already, whose reservation is over, or whose organisation isn't one of
   * `assignees`. Idempotent.
   * @returns false where another organisation has it
   * @throws StoreError `conflict` while calls are still routed to the other organisation
   */
  async claim({ org, uid, number }: NumberOwner, { reservedMs, assignees }: ClaimTerms): Promise<boolean> {
    const { rows } = await this.database.queryAs<{ claimed: boolean }>(org, 'SELECT parley.claim_number($1, $2, $3, $4) AS claimed', [
      number,
      uid,
      reservedMs,
      assignees ?? null,
    ]);
    return rows[0]?.claimed === true;
  }

  /** Begins the reservation of a deleted PhoneNumber's number, unless another object of the organisation has it. Idempotent. */
  async release({ org, uid, number }: NumberOwner): Promise<void> {
    await this.database.asOrganization(org, async (transaction) => {
      // The claim is locked before the route, as in release_numbers(): the other order could deadlock.
      await transaction.query(
        'UPDATE parley.number_claims SET released_at = now() WHERE org = $1 AND number = $2 AND uid = $3 AND released_at IS NULL',
        [org, number, uid],
      );
      await transaction.query('DELETE FROM parley.phone_routes WHERE org = $1 AND uid = $2', [org, uid]);
    });
  }

  /**
   * Releases every claim whose PhoneNumber is gone, as {@link release} does.
   * @param living uids of the PhoneNumbers that exist
   * @param within the only organisation to look at; all of them where absent
   * @returns the numbers
   */
  async releaseOthers(living: readonly string[], within?: string): Promise<readonly string[]> {
    const rows = await this.database.query<{ number: string }>('SELECT number FROM parley.release_numbers($1, $2) AS number', [
      living,
      within ?? null,
    ]);
    return rows.map(({ number }) => number);
  }

  /** Lists claims of one organisation, or of all, by number; 10,000 at most. */
  async list({
    reservedMs,
    org,
  }: Pick<ClaimTerms, 'reservedMs'> & { readonly org?: string | undefined }): Promise<readonly (NumberOwner & NumberClaim)[]> {
    return this.database.asDirectory(async (transaction) => {
      const { rows } = await transaction.query<Row>(
        `SELECT number, ${COLUMNS} FROM parley.number_claims WHERE $2::text IS NULL OR org = $2 ORDER BY number LIMIT ${LIST_LIMIT}`,
        [reservedMs, org ?? null],
      );
      return rows.map(fromRow);
    });
  }

  /** Ends a reservation before its time. @returns its organisation; undefined where the number is not reserved */
  async endReservation(number: string): Promise<string | undefined> {
    const [row] = await this.database.query<{ org: string | null }>('SELECT parley.end_reservation($1) AS org', [number]);
    return row?.org ?? undefined;
  }
}

function fromRow({ number, org, uid, until, expired }: Row): NumberOwner & NumberClaim {
  return { number, org, uid, ...(until !== null && { reservedUntil: until }), expired: expired === true };
}
