/**
 * Makes self-signed certificates on the spot: for servers of the local stack and their clients, which know each other by these very
 * certificates, and for tests.
 */
import { generateKeyPairSync, sign } from 'node:crypto';

const der = (tag: number, ...content: readonly Uint8Array[]): Buffer => {
  const body = Buffer.concat(content);
  // The length is as short as can be: strict readers take no other.
  const size = body.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
};
const sequence = (...content: readonly Uint8Array[]): Buffer => der(0x30, ...content);
const text = (tag: number, value: string): Buffer => der(tag, Buffer.from(value, 'latin1'));
const bytes = (...values: readonly number[]): Buffer => Buffer.from(values);
const utcTime = (ms: number): Buffer => text(0x17, new Date(ms).toISOString().replaceAll(/[-:T]|^..|\.\d+/g, ''));

const ecdsaWithSha256 = sequence(der(0x06, bytes(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02)));
const commonName = bytes(0x55, 0x04, 0x03);
const subjectAltName = bytes(0x55, 0x1d, 0x11);

/**
 * Makes a certificate that is no authority: who trusts it, trusts this one key.
 * @param options.addresses IPv4 addresses
 * @param options.days days until it ends, up to 2049; below 0 it has ended. Default 10
 */
export function selfSigned(options: {
  readonly names: readonly string[];
  readonly addresses?: readonly string[];
  readonly days?: number;
}): {
  readonly key: string;
  readonly cert: string;
} {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(der(0x31, sequence(der(0x06, commonName), text(0x0c, options.names[0] ?? 'parley'))));
  const day = 24 * 3_600_000;
  const until = Date.now() + (options.days ?? 10) * day;
  const alternatives = sequence(
    ...options.names.map((host) => text(0x82, host)),
    ...(options.addresses ?? []).map((address) => der(0x87, Buffer.from(address.split('.').map(Number)))),
  );
  const body = sequence(
    der(0xa0, der(0x02, bytes(2))),
    der(0x02, bytes(1)),
    ecdsaWithSha256,
    name,
    sequence(utcTime(Date.now() - 2 * day), utcTime(until)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(der(0x06, subjectAltName), der(0x04, alternatives)))),
  );
  const signature = sign('sha256', body, privateKey);
  const certificate = sequence(body, ecdsaWithSha256, der(0x03, bytes(0), signature));
  const lines = certificate
    .toString('base64')
    .match(/.{1,64}/g)!
    .join('\n');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  };
}
