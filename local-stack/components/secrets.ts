/** Makes certificates and passwords for the stack's servers: any account of the machine can connect to a loopback port. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { selfSigned } from './self-signed.ts';

/** Paths of PEM files. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** A server's own pair, and the one pair of a client that it accepts. */
export interface MutualTls {
  readonly server: KeyPair;
  readonly client: KeyPair;
}

/** A certificate outlives any stack: nothing renews it. */
const DAYS = 20 * 365;

/** Creates the pairs at the first start, readable by their owner only. */
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

/** Returns the certificates that a client shows and trusts, in the form of Node's TLS. */
export function clientTls({ server, client }: MutualTls): { readonly ca: string; readonly cert: string; readonly key: string } {
  const [ca, cert, key] = [server.cert, client.cert, client.key].map((file) => readFileSync(file, 'utf8'));
  return { ca: ca!, cert: cert!, key: key! };
}

/** Returns `bytes` random bytes in hexadecimal, created at the first start, readable by their owner only. */
export function ensureSecret(folder: string, name: string, bytes = 24): string {
  const file = join(folder, name);
  if (!existsSync(file)) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(file, randomBytes(bytes).toString('hex'), { mode: 0o600 });
  }
  return readFileSync(file, 'utf8').trim();
}
