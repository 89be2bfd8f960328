/**
 * Decides who hears whom while the agent talks to the target of a warm transfer. All are in one room, for the open media server cannot move
 * participants between rooms: the caller is on hold because the media server sends no audio there.
 *
 *   agent ⇄ caller        talking
 *   agent → other         consulting: the caller hears nothing, and is not heard by the other
 *   caller ⇄ other        connected: the agent has left them alone
 */
import { RoomEvent, TrackKind, type RemoteParticipant, type Room } from '@livekit/rtc-node';

import type { SipGateway } from '../../../calls/sip/gateway.ts';
import type { Logger } from '../../../platform/logging.ts';

export interface ConsultationOptions {
  readonly room: Room;
  readonly roomName: string;
  readonly caller: string;
  readonly other: string;
  readonly gateway: Pick<SipGateway, 'connect'>;
  readonly logger: Logger;
}

export class Consultation {
  readonly #options: ConsultationOptions;
  readonly #onPublished: (publication: unknown, participant: RemoteParticipant) => void;
  #over = false;
  /** The changes run one after the other, so that the last one wins. */
  #doing: Promise<void> = Promise.resolve();

  constructor(options: ConsultationOptions) {
    this.#options = options;
    // A gateway subscribes to every track as soon as it is published.
    this.#onPublished = (_publication, { identity }) => {
      if (identity === options.other || identity === options.caller) this.separate().catch(() => undefined);
    };
    options.room.on(RoomEvent.TrackPublished, this.#onPublished);
  }

  /** Puts the caller on hold; once more for each track that is published meanwhile. @throws where the media server fails */
  separate(): Promise<void> {
    return this.#then(async () => {
      if (this.#over) return;
      const { caller, other } = this.#options;
      await this.#set(caller, [...this.#tracksOf(other), ...this.#ownTracks()], false);
      if (this.#participant(other) !== undefined) await this.#set(other, this.#tracksOf(caller), false);
    });
  }

  /** Connects the caller and the other, and the agent neither speaks nor listens any more. @throws where the media server fails */
  connect(): Promise<void> {
    this.#end();
    return this.#then(async () => {
      const { caller, other } = this.#options;
      await this.#set(other, this.#ownTracks(), false);
      await this.#set(caller, this.#tracksOf(other), true);
      await this.#set(other, this.#tracksOf(caller), true);
    });
  }

  /** Lets the caller hear the agent again. Never throws: there is nothing else to do. */
  resume(): Promise<void> {
    this.#end();
    return this.#then(() => this.#set(this.#options.caller, this.#ownTracks(), true)).catch(() => undefined);
  }

  #end(): void {
    this.#over = true;
    this.#options.room.off(RoomEvent.TrackPublished, this.#onPublished);
  }

  #then(step: () => Promise<void>): Promise<void> {
    const done = this.#doing.then(step);
    this.#doing = done.catch((err: unknown) => this.#options.logger.warn({ err }, 'failed to change who hears whom'));
    return done;
  }

  async #set(identity: string, tracks: readonly string[], hears: boolean): Promise<void> {
    const { gateway, roomName } = this.#options;
    // A caller who stays on hold hears nobody any more.
    if (tracks.length > 0) await twice(() => gateway.connect(roomName, identity, tracks, hears));
  }

  #participant(identity: string): RemoteParticipant | undefined {
    return [...this.#options.room.remoteParticipants.values()].find((participant) => participant.identity === identity);
  }

  #tracksOf(identity: string): readonly string[] {
    return audioOf(this.#participant(identity));
  }

  #ownTracks(): readonly string[] {
    return audioOf(this.#options.room.localParticipant);
  }
}

/** Asks the media server once more where it fails; only for requests that may be repeated. */
export const twice = (request: () => Promise<void>): Promise<void> => request().catch(request);

function audioOf(participant: Pick<RemoteParticipant, 'trackPublications'> | Room['localParticipant']): readonly string[] {
  return [...(participant?.trackPublications.values() ?? [])].flatMap(({ kind, sid }) =>
    kind === TrackKind.KIND_AUDIO && sid !== undefined && sid !== '' ? [sid] : [],
  );
}
