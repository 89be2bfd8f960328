import { Repository } from './repository.ts';
/** How many calls the voice servers can take now. */

/** What a voice server says of itself. */
export interface VoicePlaces {
  /** Calls that it can take now and welcome in time. */
  readonly free: number;
  /** It may have more calls, but not before some that begin now have begun. */
  readonly starting: boolean;
}

/** The outcome of an attempt to take a place. */
export interface PlaceTaken {
  /** Whether any server has reported lately. */
  readonly reported: boolean;
  readonly taken: boolean;
  /** Some server has places, but not before calls that begin now have begun. */
  readonly starting: boolean;
  /** Some are free, and kept for organisations with fewer calls. */
  readonly reserved: boolean;
}

/** A server reports every second: after so long without a report it is gone, or cannot reach Postgres. In milliseconds. */
const FRESH_MS = 5_000;

export class VoiceServers extends Repository {
  /** @param server id of its own, a UUID @throws StoreError */
  async report(server: string, { agentName, free, starting }: VoicePlaces & { readonly agentName: string }): Promise<void> {
    await this.database.query('SELECT parley.report_voice_server($1, $2, $3, $4)', [server, agentName, free, starting]);
  }

  /** It takes no more calls. @throws StoreError */
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
