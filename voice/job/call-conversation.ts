/** The conversation of a call: the machine of `voice/conversation`, with ears and a voice in a room. */
import type { Room } from '@livekit/rtc-node';

import { AGENT_HEARD_WITHIN_MS } from '../../calls/microphone.ts';
import { WELCOMED_ATTRIBUTE } from '../../calls/names.ts';
import { withTimeout, type Timer } from '../../platform/clock.ts';
import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import type { DynamicData } from '../../crds/template.ts';
import type { Conversation } from '../conversation/conversation.ts';
import { createConversation, type CreateConversationOptions } from '../conversation/create-conversation.ts';
import type { Equipment, Member, TeamOptions } from '../conversation/team.ts';
import type { ConversationFigures, Figures } from '../conversation/figures.ts';
import type { CreateEars, Voice } from '../conversation/ports.ts';
import { silenceOf, voicemailMessageOf } from '../conversation/prompt.ts';
import { agentStateOf, type ConversationState } from '../conversation/state.ts';
import { GreetingEnd, isMachine, Screening, summarizeCall, type CalleeCategory, type TransferVoice } from '../phone/index.ts';
import type { Providers } from '../providers/index.ts';
import { Ambience } from '../ambience/ambience.ts';
import type { Controlled } from './live-control.ts';
import type { LiveEvents } from './live-events.ts';
import { SupervisorSound } from './supervisor-sound.ts';
import { Supervisors } from './supervisors.ts';
import { AgentTrack } from '../sound/agent-track.ts';
import { CallRecorder, type CallRecorderOptions } from '../recording/call-recorder.ts';
import type { SoundGuard } from '../recording/sound-guard.ts';
import { CallSound } from '../sound/call-sound.ts';
import { soundSettingsOf } from '../sound/settings.ts';
import { EAR_SAMPLE_RATE } from '../sound/ears.ts';
import { PLAYOUT_SAMPLE_RATE } from '../sound/playout.ts';
import { Subtitles } from '../sound/subtitles.ts';
import { playTones } from '../sound/tones.ts';
import type { TurnModel } from '../sound/turn-detector.ts';
import { UserTrack } from '../sound/user-track.ts';
import { VoiceActivityModel } from '../sound/voice-activity-model.ts';

/** Longest wait for the last words of who has taken the call over, in milliseconds. */
const LAST_WORDS_MS = 3_000;

/** Attribute of the agent in LiveKit's rooms: listening, thinking or speaking. */
const STATE_ATTRIBUTE = 'lk.agent.state';

export interface CallConversationOptions extends Omit<
  CreateConversationOptions,
  'model' | 'voice' | 'ears' | 'turnEndMs' | 'silence' | 'onChange' | 'tones' | 'team'
> {
  readonly room: Room;
  /** The participant that the agent listens to. */
  readonly userIdentity: string;
  readonly providers: Pick<Providers, 'llm' | 'conversation' | 'stt' | 'tts'>;
  /** The agents that may take over. */
  readonly others: Omit<TeamOptions, 'equip'> & {
    /** Opens the providers of an agent, with the voice that it is to have. */
    readonly open: (config: AgentRevisionConfig) => Promise<OpenedAgent>;
  };
  readonly turnModel: TurnModel | undefined;
  /** Absent where the call is not recorded. */
  readonly recording: Pick<CallRecorderOptions, 'file' | 'encoder' | 'onStart'> | undefined;
  readonly figures: Figures;
  /** Says which sound may be recorded; absent where all may. */
  readonly guard?: SoundGuard | undefined;
  /** True if only the user may read words before personal data is taken out of them. */
  readonly withholdsWords?: boolean;
  /** Those who follow the call. */
  readonly live: Pick<LiveEvents, 'conversation' | 'changed' | 'words'>;
}

interface OpenedAgent extends Pick<Equipment, 'search' | 'onTakeOver'> {
  readonly providers: CallConversationOptions['providers'];
}

export class CallConversation {
  readonly #options: CallConversationOptions;
  readonly #sound: CallSound;
  readonly #track = new AgentTrack();
  readonly #subtitles: Subtitles;
  readonly #ambience: Ambience | undefined;
  readonly #conversation: Conversation;
  /** Providers of the agent that talks. */
  #providers: CallConversationOptions['providers'];
  #user: UserTrack | undefined;
  #recorder: CallRecorder | undefined;
  #screening: Screening | undefined;
  #greeting: GreetingEnd | undefined;
  #unheard: Timer | undefined;
  #shown = '';
  /** Words of the user that were taken without their last version. */
  #taken = '';
  /** The number of the welcome message, once it is said; 0 where there is none. */
  #welcome: number | undefined;
  #welcomed = false;
  #closed: Promise<void> | undefined;
  /** True if a command has muted the agent. */
  #muted = false;
  #supervisors: Supervisors | undefined;
  readonly #supervisorSounds = new Map<string, SupervisorSound>();
  /** Ends what covers the sound of who has taken the call over. */
  readonly #uncover = new Map<string, (() => void) | undefined>();

  constructor(options: CallConversationOptions) {
    const { room, userIdentity, providers, config, data, turnModel, figures, log, clock, logger } = options;
    const { agent } = config;
    this.#options = options;
    this.#providers = providers;
    this.#subtitles = new Subtitles({
      room,
      userIdentity,
      onlyForUser: options.withholdsWords === true,
      logger,
      onLine: (line) => options.live.words(line),
    });
    this.#sound = new CallSound({
      agent,
      recognizer: providers.stt,
      synthesizer: providers.tts,
      sink: this.#track.sink,
      vad: new VoiceActivityModel(),
      turnModel,
      clock,
      logger,
      onHeard: (number, text, final) => {
        this.#subtitles.agent(number, text, final);
        options.guard?.heard(number, text.length, final);
      },
      onSound: (samples, at) => this.#recorder?.agent({ samples, sampleRate: PLAYOUT_SAMPLE_RATE }, at),
    });
    const { ambient } = this.#sound.settings;
    this.#ambience = ambient && new Ambience(ambient);
    this.#conversation = createConversation({
      ...options,
      model: providers.conversation,
      voice: (reports) => guardedVoice(this.#sound.createVoice(reports), options.guard),
      ears: this.#createEars,
      ...timingOf(config, data),
      team: { ...options.others, equip: (member) => this.#equip(member) },
      log: {
        add(entries) {
          figures.written(entries);
          log.add(entries);
        },
      },
      onChange: (state) => {
        this.#show(state);
        options.live.conversation(state);
      },
      onFailure: (failure) => {
        figures.failed(failure);
        options.onFailure?.(failure);
      },
      tones: () => playTones(room),
    });
  }

  async #equip({ config, data }: Member): Promise<Equipment> {
    const { providers, search, onTakeOver } = await this.#options.others.open(config);
    return {
      model: providers.conversation,
      ...timingOf(config, data),
      search,
      onTakeOver: () => {
        this.#providers = providers;
        this.#sound.use({ agent: config.agent, recognizer: providers.stt, synthesizer: providers.tts });
        onTakeOver?.();
      },
    };
  }

  /** Enters the room as a listener, and prepares the voice; says nothing before {@link begin}. */
  async start(): Promise<void> {
    const { room, userIdentity, recording, clock } = this.#options;
    this.#conversation.listen();
    this.#recorder = recording && new CallRecorder({ ...recording, guard: this.#options.guard, clock });
    this.#user = new UserTrack({
      room,
      identity: userIdentity,
      clock,
      onWindow: (samples, at) => {
        this.#recorder?.user({ samples, sampleRate: EAR_SAMPLE_RATE }, at);
        this.#greeting?.hearSound(samples);
        this.#sound.ears?.hear(samples);
      },
      onGone: () => this.#sound.ears?.hearNothing(),
    });
    const { heard } = await this.#track.publish(room);
    void heard.then(
      () => this.#sound.open(),
      () => undefined,
    );
  }

  /** Begins the call with the welcome message and the timers. */
  begin(): void {
    const { room, clock, logger } = this.#options;
    this.#conversation.begin();
    // A user who never listens would be in a call without an end.
    this.#unheard = clock.after(AGENT_HEARD_WITHIN_MS, () => this.#sound.open());
    this.#supervisors = new Supervisors({
      room,
      onCome: (identity) => this.#takenOver(identity),
      onLeft: (identity) => void this.#givenBack(identity),
    });
    this.#ambience?.start(room).catch((err: unknown) => logger.warn({ err }, 'failed to play the ambient sound'));
  }

  /** Breaks the silence: the user is there, without a word. */
  keyPressed(): void {
    this.#conversation.keyPressed();
  }

  /** Takes the keys that the user pressed as a turn, like words. On hold neither is heard. */
  pressed(keys: string): void {
    if (this.#sound.ears?.deaf === false) this.#conversation.pressed(keys);
  }

  /**
   * Keeps the agent silent until it is clear who answered. @param options.onMachine called when a machine has answered, and was left the
   * agent's message. @returns stops listening; idempotent
   */
  listenForVoicemail({ timeoutMs, onMachine }: { readonly timeoutMs: number; readonly onMachine: () => void }): () => void {
    const { config, data, clock, logger } = this.#options;
    const providers = this.#providers;
    this.#conversation.screen();
    const message = voicemailMessageOf(config, data);
    const greeting = message === undefined ? undefined : new GreetingEnd(clock);
    const onDecided = (category: CalleeCategory): void => {
      if (!isMachine(category)) return this.#conversation.screened();
      if (category !== 'voicemail' || message === undefined || greeting === undefined) return onMachine();
      void greeting
        .over()
        .then(() => this.#conversation.leaveMessage(message))
        .then(onMachine);
    };
    const screening = new Screening({ model: providers.llm, timeoutMs, clock, logger, onDecided });
    this.#screening = screening;
    this.#greeting = greeting;
    screening.begin();
    return () => {
      screening.stop();
      greeting?.stop();
    };
  }

  /** The conversation, as people steer it from outside while it goes on. */
  readonly controlled: Controlled = {
    tell: (text, options) => this.#held() ?? this.#conversation.tell(text, options),
    instruct: (text) => this.#conversation.instruct(text),
    mute: (on) => {
      if (!on && this.#supervisors?.present === true)
        return 'a person has taken the call over: the agent speaks again when they leave, unless it is to stay muted';
      this.#muted = on;
      this.#conversation.mute(on);
      return undefined;
    },
    transfer: (target) => this.#conversation.transfer(target),
  };

  /** Mutes the agent: somebody else speaks with the user, who is recorded and transcribed in its place. */
  #takenOver(identity: string): void {
    const { room, live, guard, clock, logger } = this.#options;
    logger.info({ identity }, 'a person has taken the call over');
    // Nobody knows at which moment which of their words is heard.
    this.#uncover.set(identity, guard?.coverAll(1));
    this.#conversation.mute(true);
    live.changed({ takenOver: true });
    const sound = new SupervisorSound({
      room,
      identity,
      settings: this.#sound.settings.activity,
      model: new VoiceActivityModel(),
      recognizer: this.#providers.stt,
      onSound: (samples, at) => this.#recorder?.agent(samples, at),
      onLine: (line) => live.words(line),
      onSaid: (text, since) => this.#conversation.saidByColleague(text, since),
      clock,
      logger,
    });
    this.#supervisorSounds.set(identity, sound);
  }

  async #givenBack(identity: string): Promise<void> {
    const { live, logger } = this.#options;
    logger.info({ identity }, 'a person has given the call back');
    const sound = this.#supervisorSounds.get(identity);
    this.#supervisorSounds.delete(identity);
    this.#uncover.get(identity)?.();
    this.#uncover.delete(identity);
    if (this.#supervisors?.present !== true) {
      this.#conversation.mute(this.#muted);
      live.changed({ takenOver: false });
    }
    await sound?.close();
  }

  /** Returns why the caller hears nothing of the agent. */
  #held(): string | undefined {
    return this.#sound.ears?.deaf === true ? 'the call is on hold while it is being transferred' : undefined;
  }

  get transferVoice(): TransferVoice {
    // What is told to the other side, and said on hold, nobody judges.
    const { guard, clock, logger } = this.#options;
    return {
      say: async (text, signal) => {
        const uncover = guard?.coverAll(1);
        await this.#sound.voice?.tell(text, signal).finally(() => uncover?.());
      },
      summary: () => summarizeCall({ model: this.#providers.llm, messages: this.#conversation.messages, clock, logger }),
      deafen: async () => {
        const listen = this.#sound.ears?.deafen();
        const uncover = guard?.coverAll(0);
        this.#conversation.held();
        this.#options.live.changed({ held: true });
        return () => {
          listen?.();
          uncover?.();
          this.#options.live.changed({ held: false });
        };
      },
    };
  }

  figures(): ConversationFigures {
    return this.#options.figures.figures();
  }

  /** Resolves when the tools of a closed conversation are done: they have five seconds more. */
  toolsDone(): Promise<void> {
    return this.#conversation.quiet();
  }

  /** Ends all speaking and hearing. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#unheard?.cancel();
    const sounds = [...this.#supervisorSounds.values()];
    this.#supervisors?.close();
    await withTimeout(this.#options.clock, LAST_WORDS_MS, Promise.all(sounds.map((sound) => sound.close())));
    this.#user?.close();
    await this.#ambience?.close().catch(() => undefined);
    await this.#conversation.close();
    this.#sound.voice?.close();
    await this.#track.close();
    await this.#recorder?.close();
  }

  readonly #createEars: CreateEars = ({ report, fail }) =>
    this.#sound.createEars({
      report: (event) => {
        if (event.type === 'interim' || event.type === 'understood') this.#subtitles.user(event.text, event.type === 'understood');
        this.#options.guard?.hear(event);
        report(event);
        this.#greeting?.hear(event);
        this.#screening?.hear(event);
      },
      fail,
    });

  #show(state: ConversationState): void {
    if (!state.begun || state.closed) return;
    if (state.hearing.taken !== this.#taken && state.hearing.taken !== '') this.#subtitles.takeInterim();
    this.#taken = state.hearing.taken;
    if (state.welcomed) this.#welcome ??= state.speeches[0]?.number ?? 0;
    const welcomed = !this.#welcomed && this.#welcome !== undefined && state.speeches.every(({ number }) => number !== this.#welcome);
    this.#welcomed ||= welcomed;
    const shown = agentStateOf(state);
    if (!welcomed && shown === this.#shown) return;
    this.#shown = shown;
    const attributes = { [STATE_ATTRIBUTE]: shown, ...(welcomed && { [WELCOMED_ATTRIBUTE]: 'true' }) };
    // The request fails in a room that was left.
    this.#options.room.localParticipant?.setAttributes(attributes).catch(() => undefined);
  }
}

/** Lets the guard of the recording know what is said before it is heard. */
function guardedVoice(voice: Voice, guard: SoundGuard | undefined): Voice {
  if (guard === undefined) return voice;
  return {
    say: (speech, text) => {
      guard.says(speech, text);
      voice.say(speech, text);
    },
    sayNoMore: (speech) => {
      guard.saysNoMore(speech);
      voice.sayNoMore(speech);
    },
    cancel: (speech) => voice.cancel(speech),
    pause: () => voice.pause(),
    resume: () => voice.resume(),
  };
}

/** Returns when an agent answers, and what it does in a silence. */
function timingOf(config: AgentRevisionConfig, data: DynamicData): Pick<Equipment, 'turnEndMs' | 'silence'> {
  const { agent } = config;
  const { turnEndMs } = soundSettingsOf(agent);
  return { turnEndMs, silence: silenceOf(config, data) };
}
