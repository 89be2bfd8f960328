/** Calls get the keys of providers from Secrets of the organisation. */
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { dispose } from '@livekit/rtc-node';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { controlPlane } from '../../support/control-plane.ts';
import { suiteFolder } from '../../support/folders.ts';
import { startProxyOf, type TcpProxy } from '../../support/tcp-proxy.ts';
import { putSecret } from './secret.ts';
import { openStage, type VoiceStage } from './stage.ts';

const name = `voice-keys-${randomBytes(4).toString('hex')}`;
const value = `sk-${randomBytes(12).toString('hex')}`;
let stage: VoiceStage;
let secret: Awaited<ReturnType<typeof putSecret>>;
/** Stands between the voice role and the API server. */
let proxy: TcpProxy;
const folder = suiteFolder();

beforeAll(async () => {
  const { kubeconfig, server } = await controlPlane();
  const { hostname, origin } = new URL(server);
  proxy = await startProxyOf(server);
  const ownConfig = join(folder, 'kubeconfig');
  await writeFile(ownConfig, (await readFile(kubeconfig, 'utf8')).replaceAll(origin, `https://${hostname}:${proxy.port}`), { mode: 0o600 });
  stage = await openStage({ KUBECONFIG: ownConfig });
  secret = await putSecret(kubeconfig, { namespace: stage.org, name, values: { model: value } });
});
afterAll(async () => {
  await stage.close();
  await secret.remove();
  await proxy.close();
  await dispose();
});

const speaking = (key: string) => ({ welcomeMessage: 'Good morning to you.', textToSpeech: { apiKeySecretRef: { name, key } } });

it('a key is read by its reference, and the next call has it while the API server is away', async () => {
  for (const state of ['there', 'away'] as const) {
    if (state === 'away') proxy.cut();
    const call = await stage.joined({ spec: speaking('model') });
    await call.caller.hears('Good morning to you.');
    expect(call.provider.requests('speech')[0]?.headers.authorization).toBe(`Bearer ${value}`);
    await call.caller.leave();
    await call.becomes({ status: 'ended' });
  }
  proxy.restore();
});

it('a key that is missing ends the call, by its name', async () => {
  const call = await stage.joined({ spec: speaking('other') });
  await call.becomes({ status: 'error', finishReason: 'native_platform_internal_error' });
  await expect.poll(() => JSON.stringify(call.lines())).toContain(`Secret ${stage.org}/${name} has no key`);
  expect(stage.role.output()).not.toContain(value);
});
