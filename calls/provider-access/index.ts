/** Addresses and keys of LLM, STT and TTS providers, requests to them and their failures: for calls and for their analysis. */
export {
  createProviderKeyReader,
  ProviderKeyError,
  type ProviderKeyErrorReason,
  type ProviderKeyReader,
  type SecretKeyRef,
} from './provider-key-reader.ts';
export {
  requireApiKey,
  llmEndpointOf,
  sttEndpointOf,
  ttsEndpointOf,
  type WantedLlm,
  type ProviderDefaults,
  type ProviderEndpoint,
  type WantedStt,
  type WantedTts,
} from './endpoint.ts';
export { failureOfStatus, failuresOf, HEAD_TIMEOUT_MS, STALL_TIMEOUT_MS, type Failures } from './connection-failures.ts';
export { createProviderFetch, type FetchInterceptor, type ProviderFetch } from './provider-fetch.ts';
export { CompletionRequest } from './completion-request.ts';
export { ModelQuirks, type OptionalParameter } from './model-quirks.ts';
export { createProviderConnect, type ProviderConnect, type ProviderSocket } from './provider-socket.ts';
export { errorTypeOf, toCallFailure, PART_NAMES, ProviderError, type ProviderErrorKind, type ProviderPart } from './provider-failure.ts';
