/** Pins the Dockerfile's base images by the digests that the registry has for their tags now. Needs Docker with buildx. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const FILE = 'Dockerfile';
let text = await readFile(FILE, 'utf8');
for (const [line, name, image] of text.matchAll(/^ARG (NODE_IMAGE|DEBIAN_IMAGE)=([^@\s]+)(?:@sha256:[0-9a-f]{64})?$/gm)) {
  const { stdout } = await promisify(execFile)('docker', [
    'buildx',
    'imagetools',
    'inspect',
    String(image),
    '--format',
    '{{.Manifest.Digest}}',
  ]);
  const digest = stdout.trim();
  if (!/^sha256:[0-9a-f]{64}$/.test(digest)) throw new Error(`the registry's answer for ${image} has no digest: ${digest}`);
  text = text.replace(line, `ARG ${name}=${image}@${digest}`);
  process.stdout.write(`${image} ${digest}\n`);
}
await writeFile(FILE, text);
