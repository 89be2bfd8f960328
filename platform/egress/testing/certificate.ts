/** A self-signed certificate for tests, made on the spot: none that is kept runs out or holds a key that leaks. */
import { generateKeyPairSync, sign } from 'node:crypto';

const der = (tag: number, ...content: readonly Uint8Array[]): Buffer => {
  const body = Buffer.concat(content);
  const length = body.length < 128 ? [body.length] : [0x82, body.length >> 8, body.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
};
const sequence = (...content: readonly Uint8Array[]): Buffer => der(0x30, ...content);
const text = (tag: number, value: string): Buffer => der(tag, Buffer.from(value, 'latin1'));
const bytes = (...values: readonly number[]): Buffer => Buffer.from(values);
const utcTime = (ms: number): Buffer => text(0x17, new Date(ms).toISOString().replaceAll(/[-:T]|^..|\.\d+/g, ''));

const ecdsaWithSha256 = sequence(der(0x06, bytes(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02)));
const commonName = bytes(0x55, 0x04, 0x03);
const subjectAltName = bytes(0x55, 0x1d, 0x11);

/** @param options.expired it ended yesterday */
export function selfSigned(options: {
  readonly names: readonly string[];
  readonly addresses?: readonly string[];
  readonly expired?: boolean;
}): {
  readonly key: string;
  readonly cert: string;
} {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(der(0x31, sequence(der(0x06, commonName), text(0x0c, 'Parley test'))));
  const day = 24 * 3_600_000;
  const until = Date.now() + (options.expired === true ? -day : 10 * day);
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
  const lines = certificate.toString('base64').replaceAll(/.{64}/g, '$&\n');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  };
}
