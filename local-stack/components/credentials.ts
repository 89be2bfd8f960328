import { generateKeyPairSync, randomBytes, X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { stringify } from 'yaml';

/** The API server's users on a local stack. */
export const USERS = {
  admin: { name: 'parley-admin', groups: ['system:masters'] },
  controllerManager: { name: 'system:kube-controller-manager', groups: ['system:masters'] },
  operator: { name: 'parley-operator', groups: [] },
  api: { name: 'parley-api', groups: [] },
  worker: { name: 'parley-worker', groups: [] },
  dispatcher: { name: 'parley-dispatcher', groups: [] },
  voice: { name: 'parley-voice', groups: [] },
} as const satisfies Record<string, { readonly name: string; readonly groups: readonly string[] }>;

export type UserKey = keyof typeof USERS;

export interface ApiServerCredentials {
  /** File for `--token-auth-file`. */
  readonly tokenFile: string;
  /** Signs and checks service-account tokens. */
  readonly serviceAccountKey: string;
  /** Folder that the API server writes its certificate into. */
  readonly certDir: string;
  readonly tokens: Readonly<Record<UserKey, string>>;
}

/** The API server's certificate holds a year. One that ends within this many milliseconds is removed, and made again. */
const RENEWAL_MS = 60 * 24 * 3_600_000;

/** Creates the credentials of the API server's users, or reads those of an earlier start: kubeconfigs stay valid. */
export function ensureCredentials(folder: string, now = Date.now()): ApiServerCredentials {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const keyFile = join(folder, 'service-account.key');
  if (!existsSync(keyFile)) {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  }
  const tokensFile = join(folder, 'tokens.json');
  const known = existsSync(tokensFile) ? (JSON.parse(readFileSync(tokensFile, 'utf8')) as Partial<Record<UserKey, string>>) : {};
  const keys = Object.keys(USERS) as UserKey[];
  const tokens = Object.fromEntries(keys.map((key) => [key, known[key] ?? randomBytes(24).toString('hex')])) as Record<UserKey, string>;
  writeFileSync(tokensFile, JSON.stringify(tokens), { mode: 0o600 });
  const tokenFile = join(folder, 'tokens.csv');
  const rows = keys.map((key) => {
    const groups = USERS[key].groups.length > 0 ? `,"${USERS[key].groups.join(',')}"` : '';
    return `${tokens[key]},${USERS[key].name},${USERS[key].name}${groups}`;
  });
  writeFileSync(tokenFile, `${rows.join('\n')}\n`, { mode: 0o600 });
  const certDir = join(folder, 'apiserver');
  const certificate = join(certDir, 'apiserver.crt');
  if (existsSync(certificate) && Date.parse(new X509Certificate(readFileSync(certificate)).validTo) < now + RENEWAL_MS)
    rmSync(certDir, { recursive: true });
  return { tokenFile, serviceAccountKey: keyFile, certDir, tokens };
}

/** Writes a kubeconfig that holds everything it needs, readable by its owner only. */
export function writeKubeconfig(options: {
  readonly file: string;
  readonly server: string;
  readonly ca: string;
  readonly user: string;
  readonly token: string;
  readonly namespace?: string;
}): void {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'parley', cluster: { server: options.server, 'certificate-authority-data': Buffer.from(options.ca).toString('base64') } },
    ],
    users: [{ name: options.user, user: { token: options.token } }],
    contexts: [
      {
        name: 'parley',
        context: { cluster: 'parley', user: options.user, ...(options.namespace === undefined ? {} : { namespace: options.namespace }) },
      },
    ],
    'current-context': 'parley',
  };
  writeFileSync(options.file, stringify(config, { lineWidth: 0 }), { mode: 0o600 });
}
