/** Watches for people who take a call over: visible participants of its room beside the user. Listeners are hidden, also from the agent. */
import { RoomEvent, type RemoteParticipant, type Room } from '@livekit/rtc-node';

import { isSupervisor } from '../../calls/names.ts';

export interface SupervisorsOptions {
  readonly room: Room;
  readonly onCome: (identity: string) => void;
  readonly onLeft: (identity: string) => void;
}

export class Supervisors {
  readonly #options: SupervisorsOptions;
  readonly #present = new Set<string>();

  constructor(options: SupervisorsOptions) {
    this.#options = options;
    const { room } = options;
    room.on(RoomEvent.ParticipantConnected, this.#onConnected);
    room.on(RoomEvent.ParticipantDisconnected, this.#onDisconnected);
    for (const participant of room.remoteParticipants.values()) this.#onConnected(participant);
  }

  /** True while the agent has nothing to say. */
  get present(): boolean {
    return this.#present.size > 0;
  }

  close(): void {
    const { room } = this.#options;
    room.off(RoomEvent.ParticipantConnected, this.#onConnected);
    room.off(RoomEvent.ParticipantDisconnected, this.#onDisconnected);
    for (const identity of this.#present) this.#leaves(identity);
  }

  readonly #onConnected = ({ identity }: RemoteParticipant): void => {
    if (!isSupervisor(identity) || this.#present.has(identity)) return;
    this.#present.add(identity);
    this.#options.onCome(identity);
  };

  readonly #onDisconnected = ({ identity }: RemoteParticipant): void => {
    if (this.#present.has(identity)) this.#leaves(identity);
  };

  #leaves(identity: string): void {
    this.#present.delete(identity);
    this.#options.onLeft(identity);
  }
}
