/** Language models and speech: what `createProviders` makes of an agent's settings, and how it can fail. */
export { createProviders, type CreateProvidersOptions, type ProviderDefaults, type Providers } from './create-providers.ts';
export { createCredentials, type Credentials, type CredentialsOptions, type SecretKeyRef } from './credentials.ts';
export { ProviderFailure, providerFailureOf, type ProviderFailureKind, type ProviderPart } from './provider-failure.ts';
