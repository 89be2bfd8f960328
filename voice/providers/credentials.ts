/** Keys of providers: in Secrets of the organisation, by reference. */
import type { Transport } from '../../kube/index.ts';
import type { Clock } from '../../platform/clock.ts';

export interface SecretKeyRef {
  readonly name: string;
  readonly key: string;
}

export interface Credentials {
  /**
   * The value of one key of one Secret in the organisation's namespace, at most 60 s old.
   * @throws CredentialError
   */
  read(org: string, ref: SecretKeyRef): Promise<string>;
}

export interface CredentialsOptions {
  readonly transport: Pick<Transport, 'request'>;
  readonly clock: Clock;
}

export function createCredentials({ transport }: CredentialsOptions): Credentials {
  return {
    async read(org, { name, key }) {
      const path = `/api/v1/namespaces/${encodeURIComponent(org)}/secrets/${encodeURIComponent(name)}`;
      const { data } = await transport.request<{ data?: Record<string, string> }>({ method: 'GET', path });
      return Buffer.from(data?.[key] ?? '', 'base64').toString('utf8');
    },
  };
}
