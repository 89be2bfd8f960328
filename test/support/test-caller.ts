/** Plays a caller with the official client: a microphone that is always on, a voice, and ears that know tones. */
import { setTimeout as delay } from 'node:timers/promises';

import {
  AudioFrame,
  AudioSource,
  AudioStream,
  LocalAudioTrack,
  type LocalTrackPublication,
  Room,
  RoomEvent,
  TrackKind,
  TrackPublishOptions,
  TrackSource,
  type RemoteTrack,
  type RemoteTrackPublication,
} from '@livekit/rtc-node';

import { AGENT_HEARD_WITHIN_MS } from '../../calls/microphone.ts';
import { ignoreSound } from '../../voice/livekit-patches/room-events.ts';
import { eventually } from './eventually.ts';
import { syntheticSpeech } from './synthetic-speech.ts';
import { frequencyOf, heardFrequency, heardPart, loudness, PART_MS } from './tones.ts';

const rate = 48_000;
/** Milliseconds between two looks at whether more silence is needed. */
const everyMs = 20;
/** Milliseconds of silence that are sent ahead: few, so that the next words aren't late. */
const aheadMs = 100;
/** Milliseconds of the longest speech that is said at once. */
const longestSpeechMs = 10_000;
const heardRate = 24_000;
/** Milliseconds of sound that are judged together. */
const windowMs = 100;

/** Sound that was heard within {@link windowMs}. */
interface Heard {
  /** Value of `performance.now()` at the end. */
  readonly at: number;
  readonly track: string;
  /** Frequency of the strongest tone; undefined for silence. */
  readonly frequency: number | undefined;
  /** Number of the part of the text; undefined where it is not marked. */
  readonly part: number | undefined;
  /** Loudness, 0 … 1. */
  readonly loudness: number;
}

/** Returns the moment from which on sound is heard, for `since`. */
export const now = (): number => performance.now();

export class TestCaller {
  readonly room = new Room();
  readonly heard: Heard[] = [];
  #source: AudioSource | undefined;
  #microphone: LocalTrackPublication | undefined;
  #toSay: { readonly samples: Int16Array; readonly said: () => void } | undefined;
  readonly #hearsAgent = Promise.withResolvers<void>();
  #open = true;

  constructor() {
    ignoreSound(this.room);
    this.room.on(RoomEvent.TrackSubscribed, (track: RemoteTrack, { name }: RemoteTrackPublication) => {
      if (track.kind !== TrackKind.KIND_AUDIO) return;
      void this.#listen(track, name ?? '');
      this.#hearsAgent.resolve();
    });
    this.room.on(RoomEvent.Disconnected, () => {
      this.#open = false;
      this.#hearsAgent.resolve();
    });
  }

  /**
   * Joins the room. The agent begins when it has a microphone to listen to. It gets one once this client can hear the agent: on a busy
   * machine that may be seconds later, and the welcome message would be lost.
   */
  async join({
    url,
    token,
    microphone = true,
  }: {
    readonly url: string;
    readonly token: string;
    readonly microphone?: boolean;
  }): Promise<void> {
    await this.room.connect(url, token, { autoSubscribe: true, dynacast: false });
    if (!microphone) return;
    await Promise.race([this.#hearsAgent.promise, delay(AGENT_HEARD_WITHIN_MS, undefined, { ref: false })]);
    if (this.#open) await this.publish();
  }

  /** Publishes a microphone; the one before is taken away. */
  async publish(): Promise<void> {
    if (this.#microphone?.sid !== undefined) await this.room.localParticipant!.unpublishTrack(this.#microphone.sid);
    const source = new AudioSource(rate, 1, longestSpeechMs + aheadMs);
    this.#source = source;
    const options = new TrackPublishOptions({ source: TrackSource.SOURCE_MICROPHONE });
    const microphone = await this.room.localParticipant!.publishTrack(LocalAudioTrack.createAudioTrack('microphone', source), options);
    this.#microphone = microphone;
    void this.#keepSpeaking(source, microphone);
  }

  /**
   * Says something that is taken for speech. Resolves when it is said.
   * @param options.mark mark that it can be known by: see `marks` of what a provider is asked
   */
  async speak(ms = 900, { mark = 0 }: { readonly mark?: number } = {}): Promise<void> {
    const speech = syntheticSpeech({ sampleRate: rate, ms, mark });
    if (!this.#open) throw new Error('the caller has left the room: it cannot be heard');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onDisconnected = (): void => reject(new Error('the call ended while the user was speaking'));
    this.room.once(RoomEvent.Disconnected, onDisconnected);
    this.#toSay = { samples: speech, said: resolve };
    await promise.finally(() => this.room.off(RoomEvent.Disconnected, onDisconnected));
  }

  /** Waits until the text is heard, as its tone. @returns when, by `performance.now()` */
  hears(text: string, { since = 0 }: { readonly since?: number } = {}): Promise<number> {
    return eventually(() => {
      const found = this.heard.find(({ at, frequency }) => at >= since && frequency === frequencyOf(text));
      if (found === undefined)
        throw new Error(`"${text}" (${frequencyOf(text)} Hz) was not heard, but ${JSON.stringify(this.tones(since))}`);
      return found.at;
    }, 50);
  }

  /** Returns how long the text was heard, in milliseconds. @param since by `performance.now()` */
  heardFor(text: string, since = 0): number {
    return this.heard.filter(({ at, frequency }) => at >= since && frequency === frequencyOf(text)).length * windowMs;
  }

  /**
   * Returns up to where the text, whose parts are marked, was heard, in milliseconds: whatever was lost before, or played faster. The
   * client makes up for lost sound with any mark for a moment: a part is heard next to itself or its neighbour.
   */
  heardUpTo(text: string, since = 0): number {
    const parts = this.heard.flatMap(({ at, frequency, part }) => (at >= since && frequency === frequencyOf(text) ? (part ?? []) : []));
    const last = parts.findLast((part, i) => [parts[i - 1], parts[i + 1]].some((next) => next !== undefined && Math.abs(next - part) <= 1));
    return last === undefined ? 0 : last * PART_MS + Math.min(PART_MS, parts.filter((part) => part === last).length * windowMs);
  }

  /** Returns the tones one after the other, without repetitions. */
  tones(since = 0): readonly number[] {
    const all = this.heard.filter(({ at }) => at >= since).flatMap(({ frequency }) => frequency ?? []);
    return all.filter((tone, i) => tone !== all[i - 1]);
  }

  /** Returns the loudness of one track since this time; 0 … 1. */
  loudnessOf(track: string, since: number): number {
    const windows = this.heard.filter((each) => each.track === track && each.at >= since);
    return windows.length === 0 ? 0 : Math.max(...windows.map((each) => each.loudness));
  }

  async leave(): Promise<void> {
    this.#open = false;
    await this.room.disconnect();
  }

  /**
   * Passes speech to the client's own thread at once: handed over piece by piece it would have holes whenever the test is busy, and each
   * hole of a quarter of a second ends an utterance. Nothing is said before someone has subscribed: it would be lost.
   */
  async #keepSpeaking(source: AudioSource, microphone: LocalTrackPublication): Promise<void> {
    let listenedTo = false;
    void microphone.waitForSubscription().then(() => (listenedTo = true));
    let onceSaid: { readonly at: number; readonly said: () => void } | undefined;
    const send = (samples: Int16Array): Promise<unknown> =>
      source.captureFrame(new AudioFrame(samples, rate, 1, samples.length)).catch(() => (this.#open = false));
    while (this.#open && this.#source === source) {
      const missingMs = aheadMs - source.queuedDuration;
      if (listenedTo && this.#toSay !== undefined) {
        const { samples, said } = this.#toSay;
        this.#toSay = undefined;
        await send(samples);
        onceSaid = { at: performance.now() + source.queuedDuration, said };
      } else if (missingMs > 0) await send(new Int16Array((rate / 1000) * everyMs * Math.ceil(missingMs / everyMs)));
      else await delay(everyMs);
      if (onceSaid !== undefined && performance.now() >= onceSaid.at) {
        onceSaid.said();
        onceSaid = undefined;
      }
    }
    await source.close().catch(() => undefined);
  }

  async #listen(track: RemoteTrack, name: string): Promise<void> {
    for await (const { data } of new AudioStream(track, { sampleRate: heardRate, numChannels: 1, frameSizeMs: windowMs })) {
      const frequency = heardFrequency(data, heardRate);
      const part = frequency === undefined ? undefined : heardPart(data, heardRate);
      this.heard.push({ at: performance.now(), track: name, frequency, part, loudness: loudness(data) });
    }
  }
}

/** Makes all callers leave, also those whose room is gone. */
export async function allLeave(callers: readonly TestCaller[]): Promise<void> {
  await Promise.all(callers.map((caller) => caller.leave().catch(() => undefined)));
}
