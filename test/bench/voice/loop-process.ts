/** Runs conversations with the platform's settings and providers, without rooms: the callers' sound goes in and out in memory. */
import { text } from 'node:stream/consumers';

import type { AudioFrame } from '@livekit/rtc-node';

import { systemClock } from '../../../platform/clock.ts';
import { createLogger } from '../../../platform/logging.ts';
import { AgentTurns } from '../../../voice/conversation/agent-turns.ts';
import { Conversation } from '../../../voice/conversation/conversation.ts';
import { interruptionRulesOf } from '../../../voice/conversation/interruption-rules.ts';
import { createProviders } from '../../../voice/providers/index.ts';
import { CallSound } from '../../../voice/sound/call-sound.ts';
import { EAR_SAMPLE_RATE } from '../../../voice/sound/ears.ts';
import { VoiceActivityModel } from '../../../voice/sound/voice-activity-model.ts';
import type { SoundSink } from '../../../voice/sound/playout.ts';
import { SharedTurnModel } from '../../../voice/sound/shared-turn-model.ts';
import { WINDOW_MS } from '../../../voice/sound/voice-activity.ts';
import { openEgress } from '../../support/open-egress.ts';
import { benchAgent, welcome } from './agent.ts';
import { CallerSound, now, repeatedly } from './caller.ts';
import type { CallPlan, CallResult, CallersPlan } from './plan.ts';

/** Plays in real time into the caller's ear. */
class MemorySink implements SoundSink {
  readonly #hear: (samples: Int16Array) => void;
  #last = new Int16Array();
  /** Time at which all of it is played. */
  #until = 0;

  constructor(hear: (samples: Int16Array) => void) {
    this.#hear = hear;
  }

  get queuedDuration(): number {
    return Math.max(0, this.#until - now());
  }

  async captureFrame({ data, samplesPerChannel, sampleRate }: AudioFrame): Promise<void> {
    // The first sound is heard at once.
    if (this.queuedDuration === 0) this.#hear(data);
    this.#until = now() + this.queuedDuration + (samplesPerChannel / sampleRate) * 1_000;
    this.#last = data.slice();
  }

  clearQueue(): void {
    this.#until = now();
  }

  /** Called every {@link WINDOW_MS}. */
  tick(): void {
    if (this.queuedDuration > 0) this.#hear(this.#last);
  }
}

const logger = createLogger({ role: 'voice', level: 'silent' });
const egress = openEgress({ allowCidrs: ['127.0.0.0/8'] });
const turnModel = new SharedTurnModel(logger);
const plan = JSON.parse(await text(process.stdin)) as CallersPlan;
if (plan.calls.some(({ turnDetection }) => turnDetection === 'Model')) await turnModel.start();
const results = await Promise.all(plan.calls.map((call) => serve(call)));
process.stdout.write(JSON.stringify(results), () => process.exit());

async function serve({ caller, baseURL, turnDetection }: CallPlan): Promise<CallResult> {
  const { agent } = benchAgent(baseURL, { mode: turnDetection });
  const keys = { read: () => Promise.reject(new Error('there are no Secrets here')) };
  const turns = new AgentTurns({ agent: { name: 'bench', knowledgeBase: null }, llm: agent.llm });
  const clock = systemClock;
  const providers = await createProviders({ org: 'bench', agent, keys, egress, defaults: [], logger });
  const sound = new CallerSound(EAR_SAMPLE_RATE, WINDOW_MS);
  const sink = new MemorySink((samples) => sound.heard(samples));
  const joins = now();
  const call = new CallSound({
    agent,
    recognizer: providers.stt,
    synthesizer: providers.tts,
    sink,
    vad: new VoiceActivityModel(),
    turnModel,
    clock,
    logger,
  });
  const conversation = new Conversation({
    agent: 'desk',
    model: providers.llm,
    voice: call.createVoice,
    ears: call.createEars,
    language: agent.language,
    instructions: 'Be brief.',
    welcome,
    interruptions: interruptionRulesOf(agent),
    turnEndMs: call.settings.turnEndMs,
    maxDurationMs: 3_600_000,
    tools: () => [],
    data: {},
    transfer: async () => ({ outcome: 'done' }),
    log: { add: () => undefined },
    turns,
    clock,
    logger,
    onEnd: (reason) => console.error(`the call has ended: ${reason}`),
  });
  call.open();
  conversation.listen();
  let open = true;
  const startedAt = now();
  const ticking = (async () => {
    for (let sent = 0; open; sent += WINDOW_MS) {
      call.ears?.hear(sound.next(0));
      sink.tick();
      const early = startedAt + sent - now();
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, early)));
    }
  })();
  conversation.begin();
  const firstAudio = await sound.welcomed();
  const welcomeMs = (await sound.quiet()) - firstAudio;
  const { done, unanswered } = await repeatedly(plan.turns, () => sound.ask());
  await sound.quiet();
  open = false;
  await ticking;
  await conversation.close();
  await providers.close();
  return { caller, joins, firstAudio, welcomeMs, turns: done, unanswered, interruptions: [] };
}
