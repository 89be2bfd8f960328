import { Repository } from './repository.ts';
/** Records how many calls the voice servers can take now. */

export interface VoicePlaces {
  /** Calls that it can take now and welcome in time. */
  readonly free: number;
  /** True if it can take more calls once some that begin now have begun. */
  readonly starting: boolean;
}

export interface PlaceTaken {
  readonly reported: boolean;
  readonly taken: boolean;
  /** True if some server has places once calls that begin now have begun. */
  readonly starting: boolean;
  /** True if some places are free, and kept for organisations with fewer calls. */
  readonly reserved: boolean;
}

/** Milliseconds without a report after which a server is gone, or cannot reach Postgres. It reports every second. */
const FRESH_MS = 5_000;

export class VoiceServers extends Repository {
  /** @param server the server's own UUID @throws StoreError */
  async report(server: string, { agentName, free, starting }: VoicePlaces & { readonly agentName: string }): Promise<void> {
    await this.database.query('SELECT parley.report_voice_server($1, $2, $3, $4)', [server, agentName, free, starting]);
  }

  /** Removes a server that takes no more calls. @throws StoreError */
  async forget(server: string): Promise<void> {
    await this.database.query('SELECT parley.forget_voice_server($1)', [server]);
  }

  /** Takes one place for a call of the organisation until the next report says how many there are. @throws StoreError */
  async takePlace(agentName: string, org: string): Promise<PlaceTaken> {
    const [row] = await this.database.query<PlaceTaken>(
      'SELECT reported, taken, starting, reserved FROM parley.take_voice_place($1, $2, $3)',
      [agentName, FRESH_MS, org],
    );
    return row ?? { reported: false, taken: false, starting: false, reserved: false };
  }
}
