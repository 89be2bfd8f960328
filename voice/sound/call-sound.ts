/** Gives a conversation the ears and the voice that its agent asks for. */
import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import type { CreateEars, CreateVoice } from '../conversation/ports.ts';
import type { SpeechRecognizer } from '../providers/stt/recognition.ts';
import { TextNormalizer } from '../text-normalization/index.ts';
import { CallEars, type CallEarsOptions, type WindowModel } from './ears.ts';
import { Playout, type PlayoutOptions, type SoundSink } from './playout.ts';
import { soundSettingsOf, type SoundSettings } from './settings.ts';
import { SpokenVoice, type SpokenVoiceOptions } from './spoken-voice.ts';
import { TurnDetector, type TurnModel } from './turn-detector.ts';

export interface CallSoundOptions extends Pick<SpokenVoiceOptions, 'synthesizer' | 'onHeard'>, Pick<PlayoutOptions, 'onSound'> {
  readonly agent: AgentRevisionConfig['agent'];
  readonly recognizer: Pick<SpeechRecognizer, 'listen'>;
  readonly sink: SoundSink;
  /** Model that tells speech from silence. */
  readonly vad: WindowModel;
  /** Model of the end-of-turn detector; absent in a process that has none. */
  readonly turnModel: TurnModel | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class CallSound {
  #settings: SoundSettings;
  #options: CallSoundOptions;
  #playout: Playout | undefined;
  #voice: SpokenVoice | undefined;
  #ears: CallEars | undefined;

  constructor(options: CallSoundOptions) {
    this.#options = options;
    this.#settings = soundSettingsOf(options.agent);
  }

  get settings(): SoundSettings {
    return this.#settings;
  }

  /** Gives the conversation the ears and the voice of another agent. */
  use(sound: Pick<CallSoundOptions, 'agent' | 'recognizer' | 'synthesizer'>): void {
    this.#options = { ...this.#options, ...sound };
    this.#settings = soundSettingsOf(sound.agent);
    const { settings, turnDetector } = this.#hearing();
    this.#voice?.use({ synthesizer: sound.synthesizer, normalizer: this.#normalizer() });
    this.#ears?.use({ recognizer: sound.recognizer, settings, turnDetector });
  }

  readonly createVoice: CreateVoice = (reports) => {
    const { synthesizer, sink, clock, onHeard, onSound } = this.#options;
    this.#voice = new SpokenVoice({
      ...reports,
      synthesizer,
      normalizer: this.#normalizer(),
      playout: (heard) => (this.#playout = new Playout({ ...heard, sink, clock, onSound })),
      clock,
      onHeard,
    });
    return this.#voice;
  };

  readonly createEars: CreateEars = (reports) => {
    const { recognizer, vad, clock } = this.#options;
    this.#ears = new CallEars({
      ...reports,
      ...this.#hearing(),
      model: vad,
      recognizer,
      clock,
    });
    return this.#ears;
  };

  #normalizer(): TextNormalizer {
    const { language, speech } = this.#options.agent;
    return new TextNormalizer({ language, ...speech });
  }

  #hearing(): Pick<CallEarsOptions, 'settings' | 'turnDetector'> {
    const { agent, turnModel, logger } = this.#options;
    const { activity, endOfTurn } = this.#settings;
    const turnDetector = endOfTurn && new TurnDetector({ delays: endOfTurn, language: agent.language, model: turnModel, logger });
    return { settings: activity, turnDetector };
  }

  /** The ears; undefined before the conversation listens. */
  get ears(): CallEars | undefined {
    return this.#ears;
  }

  /** The voice; undefined before there is a conversation. */
  get voice(): SpokenVoice | undefined {
    return this.#voice;
  }

  /** Starts the playout when somebody listens: all speech until now is heard from its beginning. */
  open(): void {
    this.#playout?.open();
  }
}
