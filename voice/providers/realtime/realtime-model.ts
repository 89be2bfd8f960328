/** A model that hears the user itself: the first recogniser of a call and its first language model, on one connection. */
import { toCallFailure, type ProviderConnect, type ProviderEndpoint } from '../../../calls/provider-access/index.ts';
import type { HeardMeter } from '../../../calls/usage/heard-meter.ts';
import type { Clock } from '../../../platform/clock.ts';
import { unobserved, type ModelRequestObserver } from '../../../platform/telemetry/gen-ai/model-requests.ts';
import { ContextWindow } from '../llm/context-window.ts';
import type { AnswerRequest } from '../llm/history.ts';
import type { AnsweringModel, AnswerInProgress, AskOptions } from '../llm/language-model.ts';
import { parseMessage, socketUrl } from '../protocol-support.ts';
import { openAiTranscription, REALTIME_SAMPLE_RATE, realtimeTranscription } from '../stt/streaming/openai.ts';
import type { SttProvider } from '../stt/streaming/streamed-recognition.ts';
import { RealtimeSession } from './realtime-session.ts';

export interface RealtimeModelOptions {
  readonly endpoint: ProviderEndpoint & { readonly baseURL: string; readonly model: string };
  /** The model that writes down what the user says. */
  readonly transcriptionModel: string;
  /** BCP 47 tag. */
  readonly language: string;
  readonly keywords: readonly string[];
  readonly connect: ProviderConnect;
  readonly clock: Clock;
  readonly observer?: ModelRequestObserver | undefined;
  readonly counted?: HeardMeter | undefined;
}

export class RealtimeModel implements AnsweringModel {
  readonly #options: RealtimeModelOptions;
  readonly window: ContextWindow;
  #session: RealtimeSession | undefined;

  constructor(options: RealtimeModelOptions) {
    this.#options = options;
    this.window = new ContextWindow({ model: options.endpoint.model });
  }

  get provider(): string {
    return this.#options.endpoint.provider;
  }

  get model(): string {
    return this.#options.endpoint.model;
  }

  /** True without a session: its connection is lost, or not there yet. */
  get isAway(): boolean {
    return this.#session?.isReady !== true;
  }

  /** The recogniser that keeps the connection. It is connected for as long as the recogniser wants it. */
  get recognizer(): SttProvider {
    const { endpoint, transcriptionModel: model, language, keywords, counted } = this.#options;
    const { apiKey, provider } = endpoint;
    const transcription = openAiTranscription({ model, language, keywords });
    const input = { format: { type: 'audio/pcm', rate: REALTIME_SAMPLE_RATE }, transcription, turn_detection: null };
    return {
      provider,
      model,
      streaming: {
        model,
        url: socketUrl(endpoint.baseURL, '/realtime', { model: endpoint.model }),
        headers: apiKey === undefined ? {} : provider === 'azure_openai' ? { 'api-key': apiKey } : { authorization: `Bearer ${apiKey}` },
        sampleRate: REALTIME_SAMPLE_RATE,
        confirms: true,
        speechOnly: true,
        answersEveryFlush: true,
        session: () => realtimeTranscription({ type: 'realtime', output_modalities: ['text'], audio: { input } }),
      },
      connect: this.#connect,
      counted,
    };
  }

  ask(request: AnswerRequest, { signal }: AskOptions): AnswerInProgress {
    const session = this.#session;
    if (session?.isReady === true) return session.ask(request, signal);
    const failure = toCallFailure(this.#options.endpoint, 'unreachable', 'has no session: its connection is lost, or not there yet');
    return {
      callsTool: false,
      silentForMs: 0,
      // oxlint-disable-next-line require-yield
      async *events() {
        throw failure;
      },
    };
  }

  /** The recogniser connects. */
  async prewarm(): Promise<void> {}

  readonly #connect: ProviderConnect = async (url, options) => {
    const { endpoint, clock, observer = unobserved, connect } = this.#options;
    const socket = await connect(url, options);
    const session = new RealtimeSession({ socket, endpoint, clock, observer });
    this.#session = session;
    return {
      send: (message) => socket.send(message),
      async *messages() {
        try {
          for await (const message of socket.messages()) if (session.read(parseMessage(message))) yield message;
        } finally {
          session.lose();
        }
      },
      close() {
        session.lose();
        socket.close();
      },
    };
  };
}
