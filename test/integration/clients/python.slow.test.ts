/** Runs `parley-client` against a live API: as its type checker sees it, through a proxy that loses answers, and as its README says. */
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { beforeAll, describe, expect, it } from 'vitest';

import { generatePythonClient } from '../../../scripts/artifacts/python-client.ts';
import { suiteFolder } from '../../support/folders.ts';
import { testPython } from '../../support/programs.ts';
import { run, type Finished } from '../../support/run.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { startWebhookSink } from '../../support/webhook-sink.ts';
import { startDispatcher } from '../api/facade.ts';
import { startServedApi } from './served-api.ts';

const requirements = ['attrs==26.1.0', 'httpx==0.28.1', 'standardwebhooks==1.1.0', 'mypy==2.4.1'];
const package_ = suiteFolder();
const programs = suiteFolder();
const api = suiteFixture(startServedApi);
const sink = suiteFixture(startWebhookSink);
suiteFixture(() => startDispatcher(api.facade));

let interpreter: string;
const python = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Finished> =>
  run(interpreter, args, { cwd: package_, env: { ...api.env, PYTHONPATH: package_, ...env } });

beforeAll(async () => {
  interpreter = await testPython({ name: 'python-client', requirements });
  await generatePythonClient(package_);
  await cp(fileURLToPath(new URL('../../../clients/python/tests', import.meta.url)), join(package_, 'tests'), { recursive: true });
  await mkdir(programs, { recursive: true });
  await cp(fileURLToPath(new URL('walk.py', import.meta.url)), join(programs, 'walk.py'));
  const readme = await readFile(join(package_, 'README.md'), 'utf8');
  const blocks = [...readme.matchAll(/^```python\n(.*?)^```$/gms)].map(([, code]) => code ?? '');
  const delivery = `
import json

delivered = json.loads(os.environ["DELIVERY"])
print(receive(delivered["body"].encode(), delivered["headers"]))
print(receive(b"{}", delivered["headers"]))
`;
  await writeFile(join(programs, 'readme.py'), [...blocks, delivery].join('\n'));
});

describe('the Python client', () => {
  it('has sound types, its tests, and programs that use it', async () => {
    const { code, stdout } = await python(['-m', 'mypy', '--strict', 'parley_client', 'tests', programs]);
    expect([code, stdout]).toEqual([0, expect.stringContaining('Success: no issues found')]);
  });

  it('passes its own tests', async () => {
    const { code, stderr } = await python(['-m', 'unittest', 'discover', 'tests']);
    expect(code, stderr).toBe(0);
    expect(stderr).toMatch(/Ran 1\d tests/);
  });

  it('has a README that runs, and verifies a delivery', async () => {
    const subscription = { name: 'Verified', url: sink.url('/python'), enable_signed_webhooks: true };
    const { body: made } = await api.org.call('POST', '/v1/public/webhook/subscription', subscription);
    await api.org.call('POST', `/v1/public/webhook/subscription/${made.id}/test`);
    await sink.arrived('/python', 1);
    const [delivery] = sink.received('/python');
    const { code, stdout, stderr } = await python([join(programs, 'readme.py')], {
      WEBHOOK_SECRET: made.secret,
      DELIVERY: JSON.stringify({ body: delivery?.body.toString(), headers: delivery?.headers }),
    });
    await api.org.call('DELETE', `/v1/public/webhook/subscription/${made.id}`);
    expect(code, stderr).toBe(0);
    expect(stdout.trim().split('\n')).toEqual([
      'made Receptionist',
      'found Receptionist',
      'refused: 422 validation_failed max_call_duration_seconds',
      "['Receptionist']",
      'Manuals: in use soon',
      'received Webhook.Test',
      '204',
      '400',
    ]);
  });

  it('walks through more than 30 operations where every third answer to a POST is lost', async () => {
    api.proxy.loseEvery(3);
    const { code, stdout, stderr } = await python([join(programs, 'walk.py')]);
    api.proxy.loseEvery(0);
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      agent: ['cafe', 'Python', 0.5],
      agents: ['Python'],
      tools: ['find_order', 'transfer_call'],
      refused: [422, 'validation_failed', ['agent_name', 'max_call_duration_seconds']],
      missing: [404, 'not_found', true],
      numbers: [['sip', 'Desk']],
      keys: true,
      revoked: [false, true],
      pages: true,
      description: 'Of devices',
      subscription: [false, true, 1, 0, true],
      calls: 30,
      call: ['registered', { ticket: 4711 }],
      recording: 'recording_not_ready',
      usage: 0,
      tests: [0, 0],
      health: 'ok\n',
    });
    expect((await api.operations()).size).toBeGreaterThan(30);
    expect(api.proxy.lost).toBeGreaterThan(10);
  });
});
