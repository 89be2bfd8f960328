/** Certificates of the stack's servers and of those who may call them. Loopback has no secrets: any account of the machine can connect. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { selfSigned } from '../../platform/self-signed.ts';

/** Files, PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** A server's own pair, and the one pair that it lets in. */
export interface MutualTls {
  readonly server: KeyPair;
  readonly client: KeyPair;
}

/** Longer than any stack is kept: there is nobody to renew them. */
const DAYS = 20 * 365;

/** Made at the first start and kept, for the eyes of their owner only. */
export function ensureMutualTls(folder: string, name: string): MutualTls {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return { server: ensureKeyPair(folder, `${name}-server`), client: ensureKeyPair(folder, `${name}-client`) };
}

function ensureKeyPair(folder: string, name: string): KeyPair {
  const files = { cert: join(folder, `${name}.crt`), key: join(folder, `${name}.key`) };
  if (existsSync(files.cert) && existsSync(files.key)) return files;
  const { cert, key } = selfSigned({ names: ['localhost'], addresses: ['127.0.0.1'], days: DAYS });
  writeFileSync(files.key, key, { mode: 0o600 });
  writeFileSync(files.cert, cert, { mode: 0o600 });
  return files;
}

/** What a client of the server shows and trusts, as Node's TLS takes it. */
export function clientTls({ server, client }: MutualTls): { readonly ca: string; readonly cert: string; readonly key: string } {
  const [ca, cert, key] = [server.cert, client.cert, client.key].map((file) => readFileSync(file, 'utf8'));
  return { ca: ca!, cert: cert!, key: key! };
}
