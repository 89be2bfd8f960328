/**
 * Carries provider keys from the role, which reads and caches them, to its job processes: the reason why one can't be read is an answer,
 * too.
 */
import { ProviderKeyError, type ProviderKeyReader } from '../../calls/provider-access/index.ts';
import type { KeyAnswer, RoleServices } from './messages.ts';
import type { RoleClient } from './role-client.ts';

/** Reads keys in a job process. @param fallback used when the role does not answer */
export function keysFromRole(role: Pick<RoleClient, 'ask'>, fallback: ProviderKeyReader): ProviderKeyReader {
  return {
    async read(org, ref) {
      const answer = await role.ask('readKey', org, ref).catch(() => undefined);
      if (answer === undefined) return fallback.read(org, ref);
      if ('value' in answer) return answer.value;
      throw new ProviderKeyError(answer.reason, answer.message);
    },
  };
}

/** Answers with keys in the role. */
export function answersWithKeys(keys: ProviderKeyReader): RoleServices['readKey'] {
  return async (org, ref): Promise<KeyAnswer> => {
    try {
      return { value: await keys.read(org, ref) };
    } catch (error) {
      if (error instanceof ProviderKeyError) return { reason: error.reason, message: error.message };
      return { reason: 'unavailable', message: 'the voice role failed to read the Secret: see its log' };
    }
  };
}
