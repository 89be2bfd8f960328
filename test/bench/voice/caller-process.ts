/** Runs callers over WebRTC, with the official client. */
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

import {
  AudioFrame,
  AudioSource,
  AudioStream,
  dispose,
  LocalAudioTrack,
  Room,
  RoomEvent,
  TrackKind,
  TrackPublishOptions,
  TrackSource,
} from '@livekit/rtc-node';

import { ignoreSound } from '../../../voice/livekit-patches/room-events.ts';
import { CallerSound, now, repeatedly } from './caller.ts';
import type { CallPlan, CallResult, CallersPlan } from './plan.ts';

const sampleRate = 48_000;

const plan = JSON.parse(await text(process.stdin)) as CallersPlan;
const greeted = plan.calls.map(() => Promise.withResolvers<void>());
/** No caller asks before all were welcomed, those of other processes too: the cost of starting calls is measured by itself. */
const allGreeted = (async () => {
  await Promise.all(greeted.map(({ promise }) => promise));
  const ask = once(process, 'message');
  process.send?.('welcomed');
  await ask;
  process.disconnect();
})();
const results = await Promise.all(plan.calls.map((call, index) => serve(call, () => greeted[index]?.resolve())));
process.stdout.write(JSON.stringify(results));
await dispose();

async function serve({ caller, room: place }: CallPlan, onGreeted: () => void): Promise<CallResult> {
  if (place === undefined) throw new Error('there is no room to call in');
  const room = new Room();
  ignoreSound(room);
  const sound = new CallerSound(sampleRate);
  room.on(RoomEvent.TrackSubscribed, (track) => {
    if (track.kind !== TrackKind.KIND_AUDIO) return;
    void (async () => {
      for await (const { data } of new AudioStream(track, sampleRate, 1)) sound.heard(data);
    })();
  });
  const joins = now();
  await room.connect(place.url, place.token, { autoSubscribe: true, dynacast: false });
  const source = new AudioSource(sampleRate, 1, 60);
  const options = new TrackPublishOptions();
  options.source = TrackSource.SOURCE_MICROPHONE;
  await room.localParticipant!.publishTrack(LocalAudioTrack.createAudioTrack('microphone', source), options);
  let open = true;
  const speaking = (async () => {
    while (open) {
      const samples = sound.next(source.queuedDuration);
      await source.captureFrame(new AudioFrame(samples, sampleRate, 1, samples.length));
    }
  })();
  const firstAudio = await sound.welcomed();
  onGreeted();
  await allGreeted;
  const welcomeMs = (await sound.quiet()) - firstAudio;
  const asked = await repeatedly(plan.turns, () => sound.ask());
  const interrupted = await repeatedly(plan.interruptions, () => sound.interrupt());
  await sound.quiet();
  open = false;
  await speaking;
  await room.disconnect();
  const unanswered = asked.unanswered + interrupted.unanswered;
  return { caller, joins, firstAudio, welcomeMs, turns: asked.done, interruptions: interrupted.done, unanswered };
}
