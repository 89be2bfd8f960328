/** ElevenLabs' realtime Scribe models: https://elevenlabs.io/docs/api-reference/speech-to-text/v-1-speech-to-text-realtime */
import type { ProviderErrorKind } from '../../../../calls/provider-access/index.ts';
import { DEFAULT_RECOGNIZERS } from '../../../../crds/keywords.ts';
import { asText, at, baseLanguage, elevenLabsApi, socketUrl } from '../../protocol-support.ts';
import { keywordsFor, type SttSettings } from '../stt-protocols.ts';
import type { SttStreamEvent, SttStreaming, SttStreamSession } from './protocol.ts';

const SAMPLE_RATE = 16_000;
const BYTES_PER_MS = (SAMPLE_RATE * 2) / 1_000;
/** Fewest bytes of a commit: the API refuses less than 300 ms of audio, and closes the connection. */
const MIN_COMMIT_BYTES = 320 * BYTES_PER_MS;

const SETTINGS = 'refuses what it was sent: check its model and settings';
const LIMIT = 'reports that its limit is reached';
/** Errors by `message_type`. The server closes the connection after each of them. */
const ERRORS: Readonly<Record<string, readonly [ProviderErrorKind, string]>> = {
  auth_error: ['refused', 'refuses the key: check it, and its permissions'],
  quota_exceeded: ['refused', "reports that the account's quota is used up: raise it"],
  unaccepted_terms: ['refused', 'requires the account to accept its terms: accept them in its dashboard'],
  input_error: ['refused', SETTINGS],
  invalid_request: ['refused', SETTINGS],
  chunk_size_exceeded: ['refused', SETTINGS],
  rate_limited: ['runtime', LIMIT],
  queue_overflow: ['runtime', LIMIT],
  resource_exhausted: ['runtime', 'has no capacity at the moment'],
  session_time_limit_exceeded: ['runtime', 'ended the session at its time limit'],
  insufficient_audio_activity: ['runtime', 'ended the session because it received too little audio'],
};

export function elevenLabsStreaming(settings: SttSettings): SttStreaming | undefined {
  const { endpoint, language } = settings;
  const { model = DEFAULT_RECOGNIZERS.elevenlabs } = endpoint;
  // The other models take recordings only.
  if (!/_(realtime|live)$/.test(model)) return undefined;
  const { baseURL, headers } = elevenLabsApi(endpoint);
  const told = { keyterms: keywordsFor(settings, model) };
  const query = { audio_format: `pcm_${SAMPLE_RATE}`, commit_strategy: 'manual', include_timestamps: 'false', ...told };
  return {
    model,
    url: socketUrl(baseURL, '/speech-to-text/realtime', { model_id: model, language_code: baseLanguage(language), ...query }),
    headers,
    sampleRate: SAMPLE_RATE,
    session,
  };
}

function session(): SttStreamSession {
  /** Bytes of audio since the last commit. */
  let uncommittedBytes = 0;
  let partial = '';
  let committed = '';

  const chunk = (pcm: Uint8Array, commit: boolean): string =>
    JSON.stringify({
      message_type: 'input_audio_chunk',
      audio_base_64: Buffer.from(pcm.buffer, pcm.byteOffset, pcm.byteLength).toString('base64'),
      commit,
      sample_rate: SAMPLE_RATE,
    });
  const audio = (pcm: Uint8Array): readonly string[] => {
    uncommittedBytes += pcm.length;
    return [chunk(pcm, false)];
  };

  return {
    audio,
    flush() {
      const silence = Math.max(0, MIN_COMMIT_BYTES - uncommittedBytes);
      const messages = [...(silence === 0 ? [] : audio(new Uint8Array(silence))), chunk(new Uint8Array(0), true)];
      uncommittedBytes = 0;
      return messages;
    },
    // No message ends a stream: the connection is closed once the last commit is answered.
    end: () => [],
    read(received): readonly SttStreamEvent[] {
      const type = asText(at(received, 'message_type')) ?? '';
      const text = asText(at(received, 'text')) ?? '';
      if (type === 'partial_transcript') {
        // The server repeats partial transcripts every second, and once more after it has committed them.
        if (text === partial || text === committed) return [];
        partial = text;
        return [{ type: 'interim', text }];
      }
      if (type === 'committed_transcript') {
        committed = text;
        return [{ type: 'final', text }, { type: 'flushed' }];
      }
      // The code means that there was too little audio for a word.
      if (type === 'commit_throttled') return [{ type: 'flushed' }];
      return failureIn(type, received);
    },
  };
}

function failureIn(type: string, received: unknown): readonly SttStreamEvent[] {
  const known = Object.hasOwn(ERRORS, type) ? ERRORS[type] : undefined;
  if (known === undefined && at(received, 'error') === undefined) return [];
  const [kind, message] = known ?? ['runtime', 'reports an error'];
  return [{ type: 'failed', kind, message }];
}
