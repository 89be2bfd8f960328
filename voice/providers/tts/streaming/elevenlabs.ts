/**
 * ElevenLabs' WebSocket with several contexts:
 * https://elevenlabs.io/docs/api-reference/text-to-speech/v-1-text-to-speech-voice-id-multi-stream-input
 */
import { failureOfStatus, type ProviderErrorKind } from '../../../../calls/provider-access/index.ts';
import { asText, at, elevenLabsApi, socketUrl } from '../../protocol-support.ts';
import { elevenLabsVoice, SAMPLE_RATE, type TtsSettings } from '../tts-protocols.ts';
import type { TtsContext, TtsStreaming, TtsStreamEvent } from './protocol.ts';

/** Longest inactivity that the API offers, in seconds: tools and language models may take their time in an answer. */
const INACTIVITY_SECONDS = 180;
const CONTEXT_IDLE_MS = (INACTIVITY_SECONDS - 10) * 1_000;
/** Most contexts of a connection; the API ends it at one more. */
const MAX_CONTEXTS = 5;
/** Share of a sentence that counts as all of it where its alignment leaves something out. */
const NEARLY_ALL = 0.8;

const LIMIT = failureOfStatus(429);
const KEY: readonly [ProviderErrorKind, string] = ['refused', 'refuses the key: check it, and what it may do'];
/** Errors by `error`. The server closes the connection after most of them. */
const ERRORS: Readonly<Record<string, readonly [ProviderErrorKind, string]>> = {
  invalid_api_key: KEY,
  missing_permissions: KEY,
  quota_exceeded: ['refused', "reports that the account's quota is used up: raise it"],
  rate_limit_exceeded: [LIMIT.kind, LIMIT.message],
  too_many_concurrent_requests: [LIMIT.kind, LIMIT.message],
  max_active_conversations: [LIMIT.kind, LIMIT.message],
};
/** Code of the close that follows, which says more than an error that is not known here. */
const POLICY_VIOLATION = 1008;

/** Returns the WebSocket's protocol; undefined for models that are offered over HTTP only. */
export function elevenLabsSpeech(settings: TtsSettings): TtsStreaming | undefined {
  const { baseURL, headers } = elevenLabsApi(settings.endpoint);
  const { voice, model, third, named, settings: voiceSettings } = elevenLabsVoice(settings);
  if (third) return undefined;
  return {
    model,
    url: socketUrl(baseURL, `/text-to-speech/${encodeURIComponent(voice)}/multi-stream-input`, {
      model_id: model,
      ...named,
      output_format: `pcm_${SAMPLE_RATE}`,
      // Sentences are whole, so nothing waits for more text.
      auto_mode: 'true',
      sync_alignment: 'true',
      inactivity_timeout: String(INACTIVITY_SECONDS),
    }),
    headers,
    maxContexts: MAX_CONTEXTS,
    continuesOverHttp: true,
    contextIdleMs: CONTEXT_IDLE_MS,
    context: (id) => openContext(id, voiceSettings),
    contextOf: (message) => asText(at(message, 'contextId')) ?? asText(at(message, 'context_id')),
  };
}

/**
 * Opens a context. A flush is not confirmed: the characters that the sound has reached show that a sentence is said. The last one ends
 * with its context.
 */
function openContext(id: string, voiceSettings: object): TtsContext {
  let begun = false;
  let ended = false;
  let expected = 0;
  let aligned = 0;
  const message = (fields: object): string => JSON.stringify({ ...fields, context_id: id });
  const close = (): readonly string[] => {
    ended = true;
    return [message({ close_context: true })];
  };
  return {
    say(text) {
      const first = begun ? [] : [message({ text: ' ', voice_settings: voiceSettings })];
      begun = true;
      expected = charactersOf(text);
      aligned = 0;
      return [...first, message({ text: `${text} `, flush: true })];
    },
    end: close,
    // An ended context says what it was asked for, and closes.
    cancel: () => (ended ? [] : close()),
    read(received): readonly TtsStreamEvent[] {
      const error = asText(at(received, 'error'));
      if (error !== undefined) return failuresIn(error, at(received, 'code'));
      const events: TtsStreamEvent[] = [];
      const sound = asText(at(received, 'audio')) ?? '';
      if (sound !== '') events.push({ type: 'sound', pcm: Buffer.from(sound, 'base64') });
      const characters = at(received, 'alignment', 'chars');
      if (Array.isArray(characters)) aligned += charactersOf(characters.join(''));
      if (at(received, 'isFinal') === true || at(received, 'is_final') === true) events.push({ type: 'closed' });
      else if (!ended && expected > 0 && aligned >= expected) {
        expected = 0;
        events.push({ type: 'said' });
      }
      return events;
    },
    mayBeSaid: () => !ended && (aligned === 0 || aligned >= expected * NEARLY_ALL),
  };
}

/**
 * Counts the characters that alignments keep as they are: with the mark at the end, for the sound of the last letter may go on in the next
 * message.
 */
const charactersOf = (text: string): number => text.match(/[\p{L}\p{N}\p{STerm}]/gu)?.length ?? 0;

function failuresIn(error: string, code: unknown): readonly TtsStreamEvent[] {
  const known = Object.hasOwn(ERRORS, error) ? ERRORS[error] : undefined;
  if (known === undefined && code === POLICY_VIOLATION) return [];
  const [kind, message] = known ?? ['runtime', 'reports an error'];
  return [{ type: 'failed', kind, message }];
}
