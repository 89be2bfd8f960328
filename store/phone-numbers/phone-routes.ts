import { Repository } from '../repository.ts';
/** Routes of phone numbers: the operator writes them, and calls use only them. */

export interface PhoneRoute {
  readonly org: string;
  /** Uid of the PhoneNumber. */
  readonly uid: string;
  readonly name: string;
  /** The number in E.164. */
  readonly number: string;
  readonly type: 'SIP' | 'Native' | 'Carrier';
  /** Names of agents; null where the number takes no calls, or makes none. */
  readonly inboundAgent: string | null;
  readonly outboundAgent: string | null;
  /** The trunk's id at the media server; null where the number can't call. */
  readonly outboundTrunk: string | null;
}

const COLUMNS = `org, uid, name, number, type, inbound_agent AS "inboundAgent", outbound_agent AS "outboundAgent", outbound_trunk AS "outboundTrunk"`;

type Row = PhoneRoute & Record<string, unknown>;

export class PhoneRoutes extends Repository {
  /**
   * Writes a route; the same one again writes nothing. An object of the same organisation that had the number before loses it. A number
   * that no organisation has claimed is claimed along.
   * @throws StoreError `conflict` while the number is claimed by another organisation
   */
  async put(route: PhoneRoute): Promise<void> {
    const { org, uid, name, number, type, inboundAgent, outboundAgent, outboundTrunk } = route;
    await this.database.asOrganization(org, async (transaction) => {
      await transaction.query('INSERT INTO parley.organizations (name) VALUES ($1) ON CONFLICT DO NOTHING', [org]);
      await transaction.query('SELECT parley.lock_number($1)', [number]);
      await transaction.query('INSERT INTO parley.number_claims (number, org, uid) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING', [
        number,
        org,
        uid,
      ]);
      await transaction.query('DELETE FROM parley.phone_routes WHERE org = $1 AND number = $2 AND uid <> $3', [org, number, uid]);
      await transaction.query(
        `INSERT INTO parley.phone_routes AS r (org, uid, name, number, type, inbound_agent, outbound_agent, outbound_trunk)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
         ON CONFLICT (org, uid) DO UPDATE SET name = excluded.name, type = excluded.type, inbound_agent = excluded.inbound_agent,
           outbound_agent = excluded.outbound_agent, outbound_trunk = excluded.outbound_trunk, updated_at = now()
         WHERE (r.name, r.type, r.inbound_agent, r.outbound_agent, r.outbound_trunk)
           IS DISTINCT FROM (excluded.name, excluded.type, excluded.inbound_agent, excluded.outbound_agent, excluded.outbound_trunk)`,
        [org, uid, name, number, type, inboundAgent, outboundAgent, outboundTrunk],
      );
    });
  }

  /** Removes the route of an object that is gone, or has no say over its number. Idempotent. */
  async remove({ org, uid }: Pick<PhoneRoute, 'org' | 'uid'>): Promise<void> {
    await this.database.asOrganization(org, async (transaction) => {
      await transaction.query('DELETE FROM parley.phone_routes WHERE org = $1 AND uid = $2', [org, uid]);
    });
  }

  /** Returns the route of a number within an organisation: another one's is not found. */
  async get({ org, number }: Pick<PhoneRoute, 'org' | 'number'>): Promise<PhoneRoute | undefined> {
    const { rows } = await this.database.queryAs<Row>(org, `SELECT ${COLUMNS} FROM parley.phone_routes WHERE org = $1 AND number = $2`, [
      org,
      number,
    ]);
    return rows[0];
  }

  /** Returns the route of any organisation, for callers that know only a number, from the media server. */
  async find(number: string): Promise<PhoneRoute | undefined> {
    const [row] = await this.database.query<{ readonly org: string | null }>('SELECT parley.organization_of_number($1) AS org', [number]);
    return row?.org == null ? undefined : this.get({ org: row.org, number });
  }
}
