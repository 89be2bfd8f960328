/** ElevenLabs' WebSocket with several contexts, as its documentation and the types of its client have it. */
import { RACHEL } from '../speech-apis.ts';
import type { SpeakingConnection, SpeakingMessage, SpeakingApi } from './speaking-server.ts';

const LANGUAGES = new Set(['en', 'de', 'fr']);
/** These are the fields of messages; only the first one of a context may have settings. */
const FIELDS = new Set(['text', 'context_id', 'flush', 'close_context', 'close_socket', 'voice_settings', 'generation_config']);
const SETTINGS = ['voice_settings', 'generation_config'];
const MAX_CONTEXTS = 5;
const POLICY_VIOLATION = 1008;

export const multiContext: SpeakingApi = {
  refuses({ path, query }) {
    if (path !== `/v1/text-to-speech/${RACHEL.elevenLabs}/multi-stream-input`) return 404;
    const { model_id: model = '', output_format: format, inactivity_timeout: timeout = '20', language_code: language } = query;
    // The service refuses its third generation in the same way.
    if (/_v3/.test(model)) return 403;
    const known = model.startsWith('eleven_') && LANGUAGES.has(language ?? 'en') && Number(timeout) <= 180;
    return known && format === 'pcm_24000' ? undefined : 400;
  },
  session,
  http(path, { text, model_id: model, previous_text: before }) {
    if (path !== `/v1/text-to-speech/${RACHEL.elevenLabs}/stream?output_format=pcm_24000`) return 404;
    return /_v3/.test(String(model)) && before !== undefined ? 400 : `${String(text)} `;
  },
};

interface Context {
  said: Promise<void>;
  closing: boolean;
}

function session({ send, close, speak }: SpeakingConnection): (message: SpeakingMessage) => void {
  const contexts = new Map<string, Context>();
  const refuse = (error: string, contextId?: string): void => {
    send({ message: 'It breaks a rule.', error, code: POLICY_VIOLATION, contextId });
    close(POLICY_VIOLATION);
  };
  const say = async (context: Context, id: string, text: string): Promise<void> => {
    await context.said;
    await speak(text, (piece, pcm) => {
      const chars = piece.split('');
      const alignment = { chars, charStartTimesMs: chars.map((_, n) => n * 10), charDurationsMs: chars.map(() => 10) };
      send({ audio: pcm.toString('base64'), isFinal: null, alignment, normalizedAlignment: alignment, contextId: id });
    });
  };
  const end = async (context: Context, id: string): Promise<void> => {
    context.closing = true;
    await context.said;
    contexts.delete(id);
    send({ audio: null, isFinal: true, contextId: id });
  };
  return (message) => {
    const { context_id: id, text, close_context: closes, flush } = message;
    if (Object.keys(message).some((field) => !FIELDS.has(field))) return refuse('invalid_message');
    if (typeof id !== 'string') return refuse('invalid_message');
    const known = contexts.get(id);
    if (closes === true) {
      // The service says only then that there is no more.
      if (known === undefined) return;
      void end(known, id);
      return;
    }
    if (known === undefined && contexts.size >= MAX_CONTEXTS) return refuse('max_active_conversations', id);
    if (known !== undefined && SETTINGS.some((field) => message[field] !== undefined)) return refuse('invalid_message', id);
    if (known?.closing === true) return;
    if (typeof text !== 'string' || (text !== '' && !text.endsWith(' '))) return refuse('invalid_message', id);
    const context = known ?? { said: Promise.resolve(), closing: false };
    contexts.set(id, context);
    if (text.trim() !== '' && flush === true) context.said = say(context, id, text);
  };
}
