import { SigningKeys } from '../../api/signing/signing-keys.ts';

/** Returns the keys of secrets that stand in the configuration. */
export const testSigning = (...secrets: readonly string[]): SigningKeys =>
  new SigningKeys({
    given: secrets.length > 0 ? secrets : ['a signing secret of a test, long enough'],
    stored: () => Promise.reject(new Error('the secret was given')),
  });
