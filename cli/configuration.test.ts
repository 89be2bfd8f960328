import { expect, it } from 'vitest';

import { describeConfig } from './configuration.ts';

const variable = (env: Readonly<Record<string, string>>, name: string) => describeConfig(env).find((entry) => entry.name === name);

it('shows what is in force and where it comes from', () => {
  expect(variable({}, 'PARLEY_API_PORT')).toMatchObject({ value: '8080', source: 'default', default: '8080' });
  expect(variable({ PARLEY_API_PORT: '9000' }, 'PARLEY_API_PORT')).toMatchObject({ value: '9000', source: 'environment', default: '8080' });
  expect(variable({ KUBECONFIG: '' }, 'KUBECONFIG')).toMatchObject({ value: null, source: 'unset' });
  expect(describeConfig({}).every(({ description }) => description.length > 10)).toBe(true);
});

it('never shows a password', () => {
  const described = describeConfig({ DATABASE_URL: 'postgres://me:canary@db.example:5432/parley?sslpassword=canary' });
  expect(JSON.stringify(described)).not.toContain('canary');
  expect(JSON.stringify(described)).toContain('db.example');
  expect(JSON.stringify(describeConfig({ DATABASE_URL: 'canary' }))).not.toContain('canary');
});

it('names each bad value by itself', () => {
  const bad = describeConfig({ PARLEY_API_PORT: '70000', PARLEY_LEADER_ELECTION: 'yes', PARLEY_LOG_LEVEL: 'warn' }).filter(
    ({ problem }) => problem !== undefined,
  );
  expect(bad.map(({ name }) => name)).toEqual(['PARLEY_API_PORT', 'PARLEY_LEADER_ELECTION']);
  expect(bad[0]?.problem).toContain('PARLEY_API_PORT');
});
