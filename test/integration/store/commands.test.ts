/** Runs the commands on the database, as a person or a script does. */
import { randomBytes, randomInt } from 'node:crypto';

import { beforeAll, describe, expect, it } from 'vitest';

import { openStore } from '../../../store/index.ts';
import { controlPlane } from '../../support/control-plane.ts';
import { parleyHere } from '../../support/parley-command.ts';
import { database } from '../../support/postgres.ts';
import { run, type Finished } from '../../support/run.ts';
import { storeAt } from './support.ts';

const unique = (prefix: string): string => `${prefix}-${randomBytes(4).toString('hex')}`;

let env: Readonly<Record<string, string>>;
let kubectl: (...args: readonly string[]) => Promise<Finished>;
beforeAll(async () => {
  const [{ url }, { kubeconfig, kubectl: binary }] = await Promise.all([database(), controlPlane()]);
  env = { DATABASE_URL: url, KUBECONFIG: kubeconfig };
  kubectl = (...args) => run(binary, [`--kubeconfig=${kubeconfig}`, ...args]);
  await parley('migrate');
});

const parley = (...args: readonly string[]): Promise<Finished> => parleyHere(args, env);
const parleyWith = (other: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Finished> =>
  parleyHere(args, { ...env, ...other });

async function organization(): Promise<string> {
  const name = unique('cli');
  await parley('org', 'create', name);
  return name;
}

describe('parley migrate', () => {
  it('reports what it applies', async () => {
    const { url } = await database();
    expect(await parleyWith({ DATABASE_URL: url }, 'migrate')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^applied 0001_schema\n(applied .+\n)*the database is up to date after \d+ migrations?\n$/),
    });
  });

  it('says that there is nothing to do, and shows what is applied', async () => {
    expect(await parley('migrate')).toMatchObject({ code: 0, stdout: 'the database is up to date\n' });
    expect((await parley('migrate', '--status')).stdout).toMatch(/^MIGRATION +APPLIED\n0001_schema +\d{4}-/);
    expect(JSON.parse((await parley('migrate', '--status', '--json')).stdout)).toMatchObject({
      pending: [],
      applied: expect.arrayContaining([{ name: '0001_schema', applied_at: expect.any(String) }]),
    });
    expect(JSON.parse((await parley('migrate', '--json')).stdout)).toEqual({ applied: [] });
  });
});

describe('parley numbers', () => {
  it('lists claims, ends a reservation, and takes no number that is in use', async () => {
    const [org, number] = [await organization(), `+1555${String(randomInt(1e7)).padStart(7, '0')}`];
    const { numberClaims } = storeAt(env['DATABASE_URL'] ?? '');
    const owner = { org, uid: 'uid', number };
    const list = async (): Promise<unknown> => JSON.parse((await parley('numbers', 'list', '--org', org, '--json')).stdout);
    await numberClaims.claim(owner, { reservedMs: 0 });
    expect(await list()).toEqual([{ number, organization: org, state: 'in use', reserved_until: null }]);
    expect(await parley('numbers', 'release', number)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`in use by organisation ${org}`),
    });
    await numberClaims.release(owner);
    expect(await list()).toEqual([{ number, organization: org, state: 'reserved', reserved_until: expect.any(String) }]);
    expect((await parley('numbers', 'list')).stdout).toMatch(/^NUMBER +ORGANISATION +STATE +RESERVED UNTIL\n/);
    expect(await parley('numbers', 'release', number)).toMatchObject({ code: 0, stdout: `${number} is no longer reserved for ${org}\n` });
    expect((await parley('numbers', 'release', number)).stderr).toContain('is not reserved');
    expect(await list()).toEqual([]);
  });
});

describe('parley org limit', () => {
  it('sets how many calls may be live', async () => {
    const name = await organization();
    expect(await parley('org', 'limit', name, '--live-calls', '25')).toMatchObject({
      code: 0,
      stdout: `organisation ${name} may have 25 live calls\n`,
    });
    expect((await storeAt(env['DATABASE_URL']!).organizations.get(name))?.liveCallLimit).toBe(25);
    expect((await parley('org', 'limit', name, '--live-calls', 'many')).code).not.toBe(0);
    expect((await parley('org', 'limit', unique('absent'), '--live-calls', '1')).stderr).toContain('there is no organisation');
  });
});

describe('parley org retention', () => {
  it('sets what is kept of calls, a part at a time', async () => {
    const name = await organization();
    const retention = (...options: string[]) => parley('org', 'retention', name, ...options);
    expect((await retention()).stdout).toBe(`organisation ${name}: calls are recorded; recordings are kept for ever, calls for ever\n`);
    expect((await retention('--record', 'off', '--recordings', '30', '--calls', '90')).stdout).toBe(
      `organisation ${name}: calls are not recorded; recordings are kept for 30 days, calls for 90 days\n`,
    );
    expect(JSON.parse((await retention('--recordings', 'forever', '--json')).stdout)).toEqual({
      name,
      recording_enabled: false,
      recording_retention_days: null,
      call_retention_days: 90,
    });
    for (const wrong of [
      ['--record', 'no'],
      ['--calls', '0'],
      ['--recordings', '36501'],
    ])
      expect((await retention(...wrong)).code).not.toBe(0);
    expect((await parley('org', 'retention', unique('absent'), '--calls', '1')).stderr).toContain('there is no organisation');
  });
});

describe('parley org', () => {
  it('makes the namespace and the row, both of them once', async () => {
    const name = unique('cli');
    const made = await parley('org', 'create', name, '--display-name', 'Zoë & Söhne', '--json');
    expect(JSON.parse(made.stdout)).toMatchObject({ name, display_name: 'Zoë & Söhne' });
    expect(await parley('org', 'create', name)).toMatchObject({ code: 0 });
    const namespace = JSON.parse((await kubectl('get', 'namespace', name, '--output=json', '--show-managed-fields')).stdout);
    expect(namespace.metadata.labels['parley.dev/organization']).toBe('true');
    expect(namespace.metadata.managedFields).toEqual(
      expect.arrayContaining([expect.objectContaining({ manager: 'parley-cli', operation: 'Apply' })]),
    );
    const listed = JSON.parse((await parley('org', 'list', '--json')).stdout);
    expect(listed.filter((org: { name: string }) => org.name === name)).toEqual([
      { name, display_name: 'Zoë & Söhne', namespace: true, created_at: expect.any(String) },
    ]);
  });

  it('makes an organisation of a namespace that is there, and leaves the rest of it alone', async () => {
    const name = unique('cli');
    await kubectl('create', 'namespace', name);
    await kubectl('label', 'namespace', name, 'team=voice');
    expect(await parley('org', 'create', name)).toMatchObject({ code: 0 });
    const labels = JSON.parse((await kubectl('get', 'namespace', name, '--output=json')).stdout).metadata.labels;
    expect(labels).toMatchObject({ team: 'voice', 'parley.dev/organization': 'true' });
  });

  it('lists namespaces that became organisations by their label alone', async () => {
    const name = unique('cli');
    await kubectl('create', 'namespace', name);
    await kubectl('label', 'namespace', name, 'parley.dev/organization=true');
    expect((await parley('org', 'list')).stdout).toMatch(new RegExp(`^${name} +yes +-$`, 'm'));
  });

  it('takes no label from an owner who wants another value, and says who to ask', async () => {
    const name = unique('cli');
    await kubectl('create', 'namespace', name);
    await kubectl('label', 'namespace', name, 'parley.dev/organization=false');
    const refused = await parley('org', 'create', name);
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/another owner.*kubectl/s) });
    expect(await storeAt(env['DATABASE_URL'] ?? '').organizations.get(name)).toBeUndefined();
  });

  it('refuses names that no namespace may have', async () => {
    for (const name of ['Upper', '-x', 'a_b', 'x'.repeat(64)]) {
      const refused = await parley('org', 'create', '--', name);
      expect([name, refused]).toMatchObject([
        name,
        { code: 2, stdout: '', stderr: expect.stringContaining('use 1 to 63 lower-case letters') },
      ]);
    }
    expect(await parley('org', 'create', 'kube-system')).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^parley: /) });
  });
});

it('refuses a display name before anything is made', async () => {
  for (const displayName of ['x'.repeat(201), 'two\nlines']) {
    const name = unique('cli');
    const refused = await parley('org', 'create', name, '--display-name', displayName);
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^parley: the display name/) });
    expect((await parley('org', 'list')).stdout).not.toContain(name);
  }
});

describe('parley keys', () => {
  it('prints the key alone on standard output; it works, is listed without it, and is revoked', async () => {
    const org = await organization();
    const made = await parley(
      'keys',
      'create',
      '--org',
      org,
      '--name',
      'for tests',
      '--permissions',
      'agents:write, calls:read',
      '--expires-in-days',
      '3',
      '--user',
      'user-7',
    );
    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^pk_\w{8}_\w{40}_\w{6}\n$/) });
    const apiKey = made.stdout.trim();
    expect(made.stderr).not.toContain(apiKey);

    const store = storeAt(env['DATABASE_URL'] ?? '');
    const known = await store.apiKeys.authenticate(apiKey);
    expect(known).toMatchObject({ outcome: 'ok', record: { org, name: 'for tests', permissions: ['agents:write', 'calls:read'] } });
    const listed = await parley('keys', 'list', '--org', org);
    expect(listed.stdout).toMatch(/^key_\S+ +for tests +\w{4} +active +\S+ +user-7 +agents:write,calls:read$/m);
    expect(listed.stdout).not.toContain(apiKey);

    const keyId = known.outcome === 'ok' ? known.record.keyId : '';
    for (let round = 0; round < 2; round += 1) expect(await parley('keys', 'revoke', keyId, '--org', org)).toMatchObject({ code: 0 });
    const again = openStore({ databaseUrl: env['DATABASE_URL'] ?? '' });
    expect(await again.apiKeys.authenticate(apiKey)).toEqual({ outcome: 'revoked' });
    await again.close();
    expect(JSON.parse((await parley('keys', 'list', '--org', org, '--json')).stdout)).toMatchObject([{ key_id: keyId, revoked: true }]);
  });

  it('prints JSON for scripts, with the defaults of the API', async () => {
    const org = await organization();
    const { api_key: apiKey, ...key } = JSON.parse((await parley('keys', 'create', '--org', org, '--name', 'n', '--json')).stdout);
    expect(apiKey).toMatch(/^pk_/);
    expect(key).toEqual({
      key_id: expect.stringMatching(/^key_/),
      name: 'n',
      permissions: ['*'],
      expiration_date: new Date(Date.parse(key.created_at) + 30 * 86_400_000).toISOString(),
      created_at: expect.any(String),
      revoked: false,
      last_four: apiKey.slice(-4),
    });
  });

  it('lists which key made a key, and revokes it with those', async () => {
    const org = await organization();
    const store = storeAt(env['DATABASE_URL'] ?? '');
    const maker = JSON.parse((await parley('keys', 'create', '--org', org, '--name', 'leaked', '--json')).stdout).key_id as string;
    await store.apiKeys.create({ org, name: 'made', permissions: ['*'], expirationDays: 1, createdByKey: maker });
    expect((await parley('keys', 'list', '--org', org)).stdout).toMatch(new RegExp(`^key_\\S+ +made .* ${maker} +\\*$`, 'm'));
    const revoked = await parley('keys', 'revoke', maker, '--org', org, '--descendants');
    expect(revoked).toMatchObject({ code: 0, stdout: `${maker} (leaked) is revoked, and 1 that it had made\n` });
    const listed = JSON.parse((await parley('keys', 'list', '--org', org, '--json')).stdout) as readonly { revoked: boolean }[];
    expect(listed.map((key) => key.revoked)).toEqual([true, true]);
  });

  it('names what is wrong, with a cure, and no stack', async () => {
    const org = await organization();
    const cases: readonly (readonly [readonly string[], RegExp, code?: number])[] = [
      [['keys', 'create', '--org', unique('absent'), '--name', 'n'], /no organisation.*parley org create/s],
      [['keys', 'create', '--org', org, '--name', 'n', '--permissions', 'agents:admin'], /agents:admin.*agents:read/s],
      [['keys', 'create', '--org', org, '--name', 'n', '--expires-in-days', '400'], /1 to 365/, 2],
      [['keys', 'create', '--org', org, '--name', 'n', '--expires-in-days', 'soon'], /1 to 365/, 2],
      [['keys', 'create', '--org', org, '--name', 'x'.repeat(101)], /1 to 100/],
      [['keys', 'revoke', 'key_none', '--org', org], /no API key "key_none".*keys list/s],
    ];
    for (const [args, message, code = 1] of cases) {
      const refused = await parley(...args);
      expect([args, refused]).toMatchObject([args, { code, stdout: '', stderr: expect.stringMatching(message) }]);
      expect(refused.stderr).not.toMatch(/^ {4}at /m);
    }
  });
});

describe('without what they need', () => {
  it('the commands say what is missing and how to get it, and show no password', async () => {
    const empty = (await database()).url;
    const cases: readonly (readonly [Readonly<Record<string, string>>, RegExp])[] = [
      [{ DATABASE_URL: '' }, /DATABASE_URL is not set.*parley env/s],
      [{ DATABASE_URL: 'postgres://parley:canary@127.0.0.1:1/parley' }, /no answer from Postgres.*is Postgres running/s],
      [{ DATABASE_URL: 'mysql://canary@127.0.0.1/parley' }, /DATABASE_URL: must be a postgres:\/\/ address/],
      [{ DATABASE_URL: empty }, /parley migrate/],
    ];
    for (const [other, message] of cases) {
      const refused = await parleyWith(other, 'keys', 'list', '--org', 'acme');
      expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(message) });
      expect(refused.stderr).not.toContain('canary');
    }
  });

  it('an organisation is not half made when the API server is unavailable', async () => {
    const name = unique('cli');
    const refused = await parleyWith({ KUBECONFIG: '/nowhere/kubeconfig' }, 'org', 'create', name);
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^parley: the Kubernetes API can't be used: \/nowhere\/kubeconfig.*KUBECONFIG/s),
    });
    expect(await storeAt(env['DATABASE_URL'] ?? '').organizations.get(name)).toBeUndefined();
  });
});
