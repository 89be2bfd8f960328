/** Hears the user's sound in a room: their last microphone that can be heard, whoever comes again under the same identity. */
import type { ReadableStream, ReadableStreamDefaultReader } from 'node:stream/web';

import {
  AudioStream,
  RoomEvent,
  TrackKind,
  TrackSource,
  type AudioFrame,
  type RemoteParticipant,
  type RemoteTrack,
  type RemoteTrackPublication,
  type Room,
} from '@livekit/rtc-node';

import type { Clock } from '../../platform/clock.ts';
import { EAR_SAMPLE_RATE } from './ears.ts';
import { WINDOW_MS } from './voice-activity.ts';

export interface UserTrackOptions {
  readonly room: Room;
  readonly identity: string;
  readonly clock: Clock;
  /**
   * Called with each window. @param window of {@link WINDOW_MS} at {@link EAR_SAMPLE_RATE} @param at when it began, in milliseconds since
   * the epoch
   */
  readonly onWindow: (window: Int16Array, at: number) => void;
  /** Called when no track is left. */
  readonly onGone: () => void;
}

export class UserTrack {
  readonly #options: UserTrackOptions;
  /** Tracks that can be heard, the last one at the end. */
  #tracks: readonly RemoteTrack[] = [];
  #current: { readonly track: RemoteTrack; readonly reader: { cancel(): Promise<void> } } | undefined;
  /** Windows that have come in this turn of the event loop. */
  readonly #windows: Int16Array[] = [];
  #closed = false;

  constructor(options: UserTrackOptions) {
    this.#options = options;
    const { room, identity } = options;
    room.on(RoomEvent.TrackSubscribed, this.#onSubscribed);
    room.on(RoomEvent.TrackUnsubscribed, this.#onUnsubscribed);
    const user = room.remoteParticipants.get(identity);
    for (const publication of user?.trackPublications.values() ?? [])
      if (user !== undefined && publication.track !== undefined) this.#onSubscribed(publication.track, publication, user);
  }

  close(): void {
    const { room } = this.#options;
    room.off(RoomEvent.TrackSubscribed, this.#onSubscribed);
    room.off(RoomEvent.TrackUnsubscribed, this.#onUnsubscribed);
    this.#closed = true;
    this.#tracks = [];
    this.#listen();
  }

  readonly #onSubscribed = (track: RemoteTrack, { source }: RemoteTrackPublication, { identity }: RemoteParticipant): void => {
    if (identity !== this.#options.identity || track.kind !== TrackKind.KIND_AUDIO || source !== TrackSource.SOURCE_MICROPHONE) return;
    this.#tracks = [...this.#tracks.filter((each) => each !== track), track];
    this.#listen();
  };

  readonly #onUnsubscribed = (track: RemoteTrack): void => {
    this.#tracks = this.#tracks.filter((each) => each !== track);
    this.#listen();
  };

  #listen(): void {
    const track = this.#tracks.at(-1);
    if (this.#current?.track === track) return;
    void this.#current?.reader.cancel().catch(() => undefined);
    this.#current = undefined;
    if (track === undefined) {
      if (!this.#closed) this.#options.onGone();
      return;
    }
    const stream = new AudioStream(track, { sampleRate: EAR_SAMPLE_RATE, numChannels: 1, frameSizeMs: WINDOW_MS });
    const reader = (stream as unknown as ReadableStream<AudioFrame>).getReader();
    this.#current = { track, reader };
    void this.#read(track, reader).catch(() => undefined);
  }

  async #read(track: RemoteTrack, reader: ReadableStreamDefaultReader<AudioFrame>): Promise<void> {
    for (let read = await reader.read(); !read.done; read = await reader.read())
      if (this.#current?.track === track) this.#came(read.value.data);
  }

  /** Takes a window. Those that come at once, after a stall of the process, were said one after the other until now. */
  #came(window: Int16Array): void {
    if (this.#windows.push(window) > 1) return;
    setImmediate(() => {
      const from = this.#options.clock.now() - this.#windows.length * WINDOW_MS;
      for (const [index, each] of this.#windows.splice(0).entries()) this.#options.onWindow(each, from + index * WINDOW_MS);
    });
  }
}
