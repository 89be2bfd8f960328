import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { expect, it } from 'vitest';

import { suiteFolder } from '../test/support/folders.ts';
import { STACK_VARIABLES } from './env-file.ts';
import { createLayout, layoutOf } from './layout.ts';
import { PORT_NAMES, type Ports } from './settings.ts';
import { describeStack, type StackOptions } from './stack.ts';

const folder = suiteFolder();
const layout = layoutOf(folder);
createLayout(layout);

const stackWith = (env: NodeJS.ProcessEnv, more: Partial<StackOptions> = {}) =>
  describeStack({
    ...more,
    layout,
    ports: Object.fromEntries(PORT_NAMES.map((name, at) => [name, 20_000 + at])) as Ports,
    org: 'demo',
    binary: (name) => `/bin/${name}`,
    env,
    parley: ['parley'],
    databaseUrl: 'postgres://parley@127.0.0.1/parley',
    installDefinitions: () => Promise.resolve(),
    migrate: () => Promise.resolve(),
  });
const storageOfRoles = (stack: ReturnType<typeof stackWith>): readonly unknown[] =>
  stack.components
    .filter(({ name }) => ['api', 'operator', 'worker'].includes(name))
    .map((component) => component.command().env?.['STORAGE_URL']);

it('keeps files in a bucket that the person names, and never in the folder of another stack', () => {
  const bucket = 's3://files/dev?endpoint=http://127.0.0.1:9000';
  const inBucket = stackWith({ STORAGE_URL: bucket });
  expect([inBucket.storageUrl, ...storageOfRoles(inBucket)]).toEqual([bucket, bucket, bucket, bucket]);

  const own = pathToFileURL(join(layout.data, 'files')).href;
  const besideAnother = stackWith({ STORAGE_URL: 'file:///another/stack' });
  expect([besideAnother.storageUrl, ...storageOfRoles(besideAnother)]).toEqual([own, own, own, own]);
});

it('hands nothing of another stack on, for which the shell was set up', () => {
  const stack = stackWith(Object.fromEntries(STACK_VARIABLES.map((name) => [name, 'of another stack'])));
  const handedOn = stack.components.map((component) => [
    component.name,
    Object.entries(component.command().env ?? {}).filter(([, value]) => value === 'of another stack'),
  ]);
  expect(handedOn).toEqual(stack.components.map(({ name }) => [name, []]));
});

it('takes calls of telephones where the person has the service for them, and Redis', () => {
  const sipBinary = '/bin/livekit-sip';
  const { components, sipAddress } = stackWith({}, { sipBinary, redisBinary: '/bin/redis-server' });
  expect(components.find(({ name }) => name === 'livekit-sip')?.command().file).toBe(sipBinary);
  expect(sipAddress).toMatch(/^127\.0\.0\.1:\d+$/);
  for (const without of [{ sipBinary }, { redisBinary: '/bin/redis-server' }]) {
    const stack = stackWith({}, without);
    expect(stack.components.map(({ name }) => name)).not.toContain('livekit-sip');
    expect(stack.sipAddress).toBeUndefined();
  }
});

it('lets calls be waited for as everywhere, but not by who stops the stack', () => {
  const voice = stackWith({ PARLEY_VOICE_DRAIN_MS: '120000' }).components.find(({ name }) => name === 'voice');
  expect(voice?.command().env?.['PARLEY_VOICE_DRAIN_MS']).toBe('120000');
  expect(voice?.stopSignal).toBe('SIGINT');
});
