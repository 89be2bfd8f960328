/** Tests what an agent looks up before its calls begin. */
import { dispose } from '@livekit/rtc-node';
import { afterAll, describe, expect, it } from 'vitest';

import { Servers, sendJson, startEndpoint } from '../../support/http-servers.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { openStage } from './stage.ts';

const servers = new Servers();
afterAll(dispose);
const stage = suiteFixture(openStage);

afterAll(() => servers.stop());

describe.concurrent('dynamic data', () => {
  it('are looked up once for several calls, spoken, put into the prompt, and stored with the call', async () => {
    const endpoint = await startEndpoint(servers, (response) => sendJson(response, { name: 'Ada', tier: 'gold', orders: [{ id: 7 }] }));
    const broken = await startEndpoint(servers, (response) => sendJson(response, {}, 500));
    const spec = {
      welcomeMessage: 'Hello {{customer_name}}{{missing}}.',
      dynamicData: [
        {
          name: 'crm',
          url: `${endpoint.url}/customers/{{phone}}`,
          method: 'POST',
          body: { phone: '{{phone}}' },
          cache: '5m',
          response: [
            { name: 'customer_name', path: '$.name', context: 'Who is calling.' },
            { name: 'orders', path: '$.orders' },
            { name: 'tier', path: '$.tier' },
          ],
        },
        { name: 'broken', url: broken.url, response: [{ name: 'missing', path: '$' }] },
      ],
    };
    const wish = { spec, systemPrompt: 'Order {{orders.0.id}} is on its way.', dynamicData: { phone: '+15550100', tier: 'given' } };
    const first = await stage.joined(wish);
    first.provider.chat(() => 'Good.');
    await first.caller.hears('Hello Ada.');
    await first.becomes({ status: 'ongoing' });
    await first.says('hello');
    await first.caller.hears('Good.');
    const { system } = first.provider.requests('chat')[0] ?? { system: '' };
    expect(system).toContain('Order 7 is on its way.');
    expect(system).toContain('customer_name = Ada (Who is calling.)');
    await first.becomes({ dynamicData: { phone: '+15550100', tier: 'given', customer_name: 'Ada', orders: [{ id: 7 }] } });
    expect(first.lines().find(({ reason }) => reason === 'http_500')).toMatchObject({ lookup: 'broken' });

    const second = await stage.joined(wish);
    await second.caller.hears('Hello Ada.');
    const third = await stage.joined({ ...wish, dynamicData: { phone: '+15550199' } });
    await third.caller.hears('Hello Ada.');
    expect(endpoint.requests.map(({ method, url, body }) => [method, url, body])).toEqual([
      ['POST', '/customers/%2B15550100', '{"phone":"+15550100"}'],
      ['POST', '/customers/%2B15550199', '{"phone":"+15550199"}'],
    ]);
    expect(broken.requests).toHaveLength(3);
  });

  it('that take too long are not waited for', async () => {
    const hanging = await startEndpoint(servers, () => undefined);
    const call = await stage.joined({
      spec: {
        welcomeMessage: 'Hello {{name}}.',
        dynamicData: [{ name: 'slow', url: hanging.url, timeout: '500ms', response: [{ name: 'name', path: '$' }] }],
      },
    });
    await call.caller.hears('Hello .');
    expect(call.lines().find(({ lookup }) => lookup === 'slow')).toMatchObject({ reason: 'timeout' });
  });
});
