/** Reads how the roles reach Temporal: address, namespace and credentials, by the variables that Temporal's own command reads. */
import { readFileSync } from 'node:fs';

import { ConfigError, type Config } from '../config/config.ts';

/** Credentials in the form that clients and workers of Temporal take. */
export interface TemporalAccess {
  readonly apiKey?: string;
  readonly tls?:
    | true
    | {
        readonly serverNameOverride?: string;
        readonly serverRootCACertificate?: Buffer;
        readonly clientCertPair?: { readonly crt: Buffer; readonly key: Buffer };
      };
}

export interface Temporal {
  /** `host:port` of the frontend. */
  readonly address: string;
  readonly namespace: string;
  /** Credentials; absent where there are none. */
  readonly access?: TemporalAccess;
}

export type TemporalSettings = Pick<
  Config,
  | 'TEMPORAL_ADDRESS'
  | 'TEMPORAL_NAMESPACE'
  | 'TEMPORAL_API_KEY'
  | 'TEMPORAL_TLS'
  | 'TEMPORAL_TLS_CLIENT_CERT_PATH'
  | 'TEMPORAL_TLS_CLIENT_KEY_PATH'
  | 'TEMPORAL_TLS_SERVER_CA_CERT_PATH'
  | 'TEMPORAL_TLS_SERVER_NAME'
>;

/** Reads the files of certificates, once: renewed ones count from the next start. @throws ConfigError naming the variable */
export function temporalOf(config: TemporalSettings): Temporal {
  const apiKey = config.TEMPORAL_API_KEY;
  const tls = tlsOf(config);
  return {
    address: config.TEMPORAL_ADDRESS,
    namespace: config.TEMPORAL_NAMESPACE,
    access: { ...(apiKey !== undefined && { apiKey }), ...(tls !== undefined && { tls }) },
  };
}

function tlsOf(config: TemporalSettings): TemporalAccess['tls'] {
  const crt = fileOf(config, 'TEMPORAL_TLS_CLIENT_CERT_PATH');
  const key = fileOf(config, 'TEMPORAL_TLS_CLIENT_KEY_PATH');
  const serverRootCACertificate = fileOf(config, 'TEMPORAL_TLS_SERVER_CA_CERT_PATH');
  const serverNameOverride = config.TEMPORAL_TLS_SERVER_NAME;
  if ((crt === undefined) !== (key === undefined))
    throw new ConfigError('set TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH together, or neither');
  const details = {
    ...(serverNameOverride !== undefined && { serverNameOverride }),
    ...(serverRootCACertificate !== undefined && { serverRootCACertificate }),
    ...(crt !== undefined && key !== undefined && { clientCertPair: { crt, key } }),
  };
  if (Object.keys(details).length > 0) return details;
  // An API key must not travel in the clear; Temporal's own clients decide alike.
  return config.TEMPORAL_TLS || config.TEMPORAL_API_KEY !== undefined ? true : undefined;
}

function fileOf(
  config: TemporalSettings,
  name: `TEMPORAL_TLS_${'CLIENT_CERT' | 'CLIENT_KEY' | 'SERVER_CA_CERT'}_PATH`,
): Buffer | undefined {
  const file = config[name];
  if (file === undefined) return undefined;
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new ConfigError(`${name}: ${file} can't be read: ${(cause as Error).message}`, { cause });
  }
}
