/** Language models and speech: what `createProviders` makes of an agent's settings, and how it can fail. */
export {
  createCredentials,
  ProviderFailure,
  type Credentials,
  type ProviderDefaults,
  type ProviderFailureKind,
  type ProviderPart,
} from '../calls/providers/index.ts';
export { createProviders, type CreateProvidersOptions, type Providers } from './create-providers.ts';
export { providerFailureOf } from './failure-of.ts';
