/** Which of an agent's keywords a model of speech to text can be told. Pure, shared by the requests of calls and the agent's condition. */
import type { SpecProblem } from './spec-problem.ts';

/** Languages of AssemblyAI's multilingual model. */
const ASSEMBLYAI_LANGUAGES = new Set(['en', 'es', 'fr', 'de', 'it', 'pt']);

/** Models of speech to text where an agent names none. */
export const DEFAULT_RECOGNIZERS = {
  deepgram: 'nova-3',
  elevenlabs: 'scribe_v2_realtime',
  cartesia: 'ink-whisper',
  google: 'latest_long',
  openai: 'gpt-4o-mini-transcribe',
  openai_compatible: 'whisper-1',
} as const;

/** Returns AssemblyAI's model for a language. @param language BCP 47 */
export function assemblyAiModelFor(language: string): string {
  const base = language.split('-')[0]!.toLowerCase();
  if (base === 'en') return 'universal-streaming-english';
  return ASSEMBLYAI_LANGUAGES.has(base) ? 'universal-streaming-multilingual' : 'whisper-rt';
}

/** A model of speech to text. */
export interface RecognizerModel {
  readonly provider: string;
  readonly model: string;
}

/** What a model takes. A request with more of it is refused, and the call with it. */
interface Limits {
  /** Most keywords. */
  readonly most?: number;
  /** Most characters of one. */
  readonly longest?: number;
  /** Most words of one. */
  readonly words?: number;
  /** Most bytes of all, as UTF-8. */
  readonly bytes?: number;
  /** Characters that none may have. */
  readonly without?: RegExp;
}

/** Deepgram takes 500 tokens, which nobody else can count: most have more than two bytes. */
const DEEPGRAM_BYTES = 1_000;

/** Returns undefined for a model that takes no keywords. */
function limitsOf({ provider, model }: RecognizerModel): Limits | undefined {
  switch (provider) {
    case 'deepgram':
      if (model.startsWith('whisper')) return undefined;
      return takesKeyterms(model) ? { bytes: DEEPGRAM_BYTES } : { words: 1 };
    case 'elevenlabs':
      if (model.startsWith('scribe_v1')) return undefined;
      return { ...(/_(realtime|live)$/.test(model) ? { most: 50, longest: 20 } : { longest: 50 }), words: 5, without: /[<>{}[\]\\]/ };
    case 'cartesia':
      return model.startsWith('ink-whisper') ? undefined : { bytes: 1_200 };
    case 'assemblyai':
      return model.startsWith('whisper') ? undefined : { longest: 50, words: 6 };
    case 'openai':
    case 'openai_compatible':
      return /realtime-whisper|diarize/.test(model) ? undefined : {};
    default:
      return {};
  }
}

/** Deepgram's later models take phrases; those before take single words, under another name. */
export const takesKeyterms = (model: string): boolean => /^(nova-3|flux)/.test(model);

/** Returns the keywords that a request for the model may have, in their order. */
export function takenKeywords(keywords: readonly string[], recognizer: RecognizerModel): readonly string[] {
  const limits = limitsOf(recognizer);
  if (limits === undefined) return [];
  const { most = Infinity, longest = Infinity, words = Infinity, bytes = Infinity, without } = limits;
  const fitting = keywords.filter(
    (keyword) => Array.from(keyword).length <= longest && keyword.split(/\s+/u).length <= words && without?.test(keyword) !== true,
  );
  let left = bytes;
  return fitting.slice(0, most).filter((keyword) => {
    const size = Buffer.byteLength(keyword);
    if (size > left) return false;
    left -= size;
    return true;
  });
}

interface Listening {
  readonly language: string;
  readonly speechToText: {
    readonly provider: string;
    readonly model?: string | undefined;
    readonly keywords?: readonly string[] | undefined;
    readonly fallbacks?: readonly { readonly provider: string; readonly model?: string | undefined }[] | undefined;
  };
}

/** Returns remarks on keywords that a recogniser of the agent isn't told. Those with placeholders are known only in calls. */
export function keywordRemarks({ language, speechToText }: Listening): readonly SpecProblem[] {
  const { keywords = [], fallbacks = [], ...first } = speechToText;
  const known = keywords.filter((keyword) => !keyword.includes('{{'));
  const path = 'spec.speechToText.keywords';
  return [first, ...fallbacks].flatMap(({ provider, model = defaultRecognizer(provider, language) }, index): readonly SpecProblem[] => {
    if (keywords.length === 0) return [];
    const name = `${index === 0 ? '' : `the fallback `}${provider} with the model ${model}`;
    if (limitsOf({ provider, model }) === undefined) return [{ path, message: `has no effect with ${name}` }];
    const taken = takenKeywords(known, { provider, model });
    const left = known.filter((keyword) => !taken.includes(keyword));
    if (left.length === 0) return [];
    const named = left
      .slice(0, 3)
      .map((keyword) => JSON.stringify(keyword))
      .join(', ');
    const others = left.length > 3 ? ` and ${left.length - 3} more` : '';
    return [{ path, message: `leaves out ${named}${others} with ${name}: too long, too many, or not one word` }];
  });
}

function defaultRecognizer(provider: string, language: string): string {
  if (provider === 'assemblyai') return assemblyAiModelFor(language);
  return Object.hasOwn(DEFAULT_RECOGNIZERS, provider) ? DEFAULT_RECOGNIZERS[provider as keyof typeof DEFAULT_RECOGNIZERS] : provider;
}
