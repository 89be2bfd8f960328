/** Language models and speech: what `createProviders` makes of an agent's settings, and how it can fail. */
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
