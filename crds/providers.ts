/** Lists the providers of models that specs may name; `openai_compatible` is any that speaks OpenAI's protocols. */

export const llmProviders = ['openai', 'azure_openai', 'anthropic', 'google', 'groq', 'openai_compatible'] as const;
export const ttsProviders = ['deepgram', 'openai', 'azure', 'google', 'elevenlabs', 'cartesia', 'openai_compatible'] as const;
/** All of these turn speech into text; some of them don't speak. */
export const speechProviders = [
  'deepgram',
  'openai',
  'azure',
  'google',
  'elevenlabs',
  'cartesia',
  'assemblyai',
  'openai_compatible',
] as const;
/** These hold a session in which a model hears and answers, by OpenAI's Realtime protocol. */
export const realtimeProviders = ['openai', 'azure_openai', 'openai_compatible'] as const;
/** Requests to these have a setting for `textToSpeech.temperature`. */
export const temperatureProviders: readonly string[] = ['elevenlabs', 'openai_compatible'];

/** Joins names for a sentence: `a, b or c`. */
export const listed = (names: readonly string[], last: 'and' | 'or'): string =>
  new Intl.ListFormat('en-GB', { type: last === 'and' ? 'conjunction' : 'disjunction' }).format(names);
