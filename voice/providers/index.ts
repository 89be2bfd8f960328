/** The providers of language models and speech, as `createProviders` makes them from an agent's settings, and their failures. */
export {
  createProviderKeyReader,
  ProviderError,
  type ProviderKeyReader,
  type ProviderDefaults,
  type ProviderPart,
} from '../../calls/provider-access/index.ts';
export { createProviders, type CreateProvidersOptions, type Providers } from './create-providers.ts';
export type { SpeechRecognizer } from './stt/recognition.ts';
export { providerFailureOf } from './provider-errors.ts';
export type { SpeechSynthesizer } from './tts/speech-synthesizer.ts';
export type { AnswerEvent } from './llm/hedged-language-model.ts';
export type { AnswerRequest, HistoryItem } from './llm/history.ts';
