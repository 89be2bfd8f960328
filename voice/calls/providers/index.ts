/** Providers of language models and speech, as far as calls and what comes after them have it in common. */
export { createCredentials, CredentialError, type CredentialErrorReason, type Credentials, type SecretKeyRef } from './credentials.ts';
export { keyOf, llmEndpointOf, partNames, sttEndpointOf, ttsEndpointOf, type ProviderDefaults, type ProviderEndpoint } from './endpoint.ts';
export { createProviderFetch, type ProviderFetch } from './provider-fetch.ts';
export { ProviderFailure, type ProviderFailureKind, type ProviderPart } from './provider-failure.ts';
