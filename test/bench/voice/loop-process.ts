/** Agents without rooms: the session of a call with the platform's settings and providers, and callers whose sound goes in and out in memory. */
import { text } from 'node:stream/consumers';
import { ReadableStream, type ReadableStreamDefaultController } from 'node:stream/web';

import { initializeLogger, voice } from '@livekit/agents';
import { AudioFrame } from '@livekit/rtc-node';

import { systemClock } from '../../../platform/clock.ts';
import { openEgress } from '../../support/open-egress.ts';
import { createLogger } from '../../../platform/logging.ts';
import { createProviders } from '../../../voice/providers/index.ts';
import { CallAgent } from '../../../voice/session/call-agent.ts';
import { Synthesis } from '../../../voice/session/synthesis.ts';
import { keepInterruptedAnswersQuiet } from '../../../voice/livekit-patches/interrupted-answers.ts';
import { EndOfTurnDetector } from '../../../voice/livekit-patches/end-of-turn-detector.ts';
import { MeasuredVad } from '../../../voice/livekit-patches/measured-vad.ts';
import { SharedTurnDetector } from '../../../voice/livekit-patches/shared-turn-detector.ts';
import { conversationSettingsOf } from '../../../voice/session/settings.ts';
import { USER_FRAME_MS, USER_SAMPLE_RATE } from '../../../voice/livekit-patches/room-audio.ts';
import { SessionLlm } from '../../../voice/session/session-llm.ts';
import { SessionStt } from '../../../voice/session/session-stt.ts';
import { SessionTts } from '../../../voice/session/session-tts.ts';
import { TextNormalizer } from '../../../voice/text-normalization/index.ts';
import { benchAgent, welcome } from './agent.ts';
import { CallerSound, now, repeatedly } from './caller.ts';
import type { CallPlan, CallResult, CallersPlan } from './plan.ts';

const sampleRate = 24_000;

class MemoryInput extends voice.AudioInput {
  #controller: ReadableStreamDefaultController<AudioFrame> | undefined;

  constructor() {
    super();
    this.multiStream.addInputStream(new ReadableStream<AudioFrame>({ start: (controller) => void (this.#controller = controller) }));
  }

  push(samples: Int16Array): void {
    this.#controller?.enqueue(new AudioFrame(samples, USER_SAMPLE_RATE, 1, samples.length));
  }
}

/** Plays in real time into the caller's ear. */
class MemoryOutput extends voice.AudioOutput {
  readonly #hear: (samples: Int16Array) => void;
  #frames: Int16Array[] = [];
  #pushedMs = 0;
  #startedAt = 0;
  #flushed = false;

  constructor(hear: (samples: Int16Array) => void) {
    super(sampleRate, undefined, { pause: false });
    this.#hear = hear;
  }

  override async captureFrame(frame: AudioFrame): Promise<void> {
    await super.captureFrame(frame);
    if (this.#pushedMs === 0) {
      this.#startedAt = now();
      this.onPlaybackStarted(Date.now());
    }
    this.#pushedMs += (frame.samplesPerChannel / frame.sampleRate) * 1_000;
    this.#frames.push(frame.data);
    // The first sound is heard at once.
    if (this.#frames.length === 1) this.#hear(frame.data);
  }

  /** Every {@link USER_FRAME_MS}. */
  tick(): void {
    const playedMs = now() - this.#startedAt;
    if (this.#pushedMs === 0) return;
    if (playedMs < this.#pushedMs) this.#hear(this.#frames.at(-1) ?? new Int16Array(0));
    else if (this.#flushed) this.#finish(this.#pushedMs, false);
  }

  override flush(): void {
    super.flush();
    this.#flushed = this.#pushedMs > 0;
  }

  override clearBuffer(): void {
    if (this.#pushedMs > 0) this.#finish(Math.min(now() - this.#startedAt, this.#pushedMs), true);
  }

  #finish(playedMs: number, interrupted: boolean): void {
    [this.#frames, this.#pushedMs, this.#flushed] = [[], 0, false];
    this.onPlaybackFinished({ playbackPosition: playedMs / 1_000, interrupted });
  }
}

keepInterruptedAnswersQuiet();
initializeLogger({ pretty: false, level: 'error' });
const logger = createLogger({ role: 'voice', level: 'silent' });
const egress = openEgress({ allowCidrs: ['127.0.0.0/8'] });
const executor = new SharedTurnDetector(logger);
const plan = JSON.parse(await text(process.stdin)) as CallersPlan;
if (plan.calls.some(({ turnDetection }) => turnDetection === 'model')) await executor.start();
const results = await Promise.all(plan.calls.map((call) => serve(call)));
process.stdout.write(JSON.stringify(results), () => process.exit());

async function serve({ caller, baseURL, turnDetection }: CallPlan): Promise<CallResult> {
  const { agent } = benchAgent(baseURL, { mode: turnDetection });
  const settings = conversationSettingsOf(agent);
  const keys = { read: () => Promise.reject(new Error('there are no Secrets here')) };
  const providers = await createProviders({ org: 'bench', agent, keys, egress, defaults: [], logger });
  const sound = new CallerSound(USER_SAMPLE_RATE, USER_FRAME_MS);
  const input = new MemoryInput();
  const output = new MemoryOutput((samples) => sound.heard(samples));
  const stt = new SessionStt({ inner: providers.stt, language: agent.language, onFailure: (error) => console.error(error) });
  const vad = new MeasuredVad({
    ...settings.vad,
    onSpeaking: () => stt.userSpeaks(vad.unreadMs),
    onPause: () => stt.userPaused(),
  });
  const session = new voice.AgentSession({
    ...settings.session,
    turnHandling: {
      ...settings.session.turnHandling,
      ...(settings.endOfTurn && {
        turnDetection: new EndOfTurnDetector({
          delays: settings.endOfTurn,
          language: agent.language,
          clock: systemClock,
          logger,
          executor,
        }),
      }),
    },
    vad,
    stt,
    llm: new SessionLlm({ inner: providers.llm, mayBeEmpty: () => false }),
    tts: new SessionTts({ inner: providers.tts, normalizer: new TextNormalizer({ language: agent.language }), clock: systemClock }),
  });
  session.input.audio = input;
  session.output.audio = output;
  const joins = now();
  // No caller interrupts the agent here: all that is recognised is taken as said.
  const listening = new CallAgent({
    instructions: 'Be brief.',
    tools: [],
    heeds: () => true,
    onDropped: () => undefined,
    synthesize: () => new Synthesis(),
    interrupted: () => Promise.resolve(),
  });
  await session.start({ agent: listening, record: false });
  let open = true;
  const startedAt = now();
  const ticking = (async () => {
    for (let sent = 0; open; sent += USER_FRAME_MS) {
      input.push(sound.next(0));
      output.tick();
      const early = startedAt + sent - now();
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, early)));
    }
  })();
  session.say(welcome);
  const firstAudio = await sound.welcomed();
  const welcomeMs = (await sound.quiet()) - firstAudio;
  const { done: turns, unanswered } = await repeatedly(plan.turns, () => sound.ask());
  await sound.quiet();
  open = false;
  await ticking;
  await session.close();
  await providers.close();
  return { caller, joins, firstAudio, welcomeMs, turns, unanswered, interruptions: [] };
}
