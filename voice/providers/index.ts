/** Language models and speech: what `createProviders` makes of an agent's settings, and how it can fail. */
export {
  createCredentials,
  CredentialError,
  ProviderFailure,
  type Credentials,
  type CredentialsOptions,
  type ProviderDefaults,
  type ProviderFailureKind,
  type ProviderPart,
  type SecretKeyRef,
} from '../../calls/providers/index.ts';
export { createProviders, type CreateProvidersOptions, type Providers } from './create-providers.ts';
export { providerFailureOf } from './failure-of.ts';
