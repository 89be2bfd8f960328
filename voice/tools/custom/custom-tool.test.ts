import { gzipSync } from 'node:zlib';

import { afterEach, beforeAll, afterAll, describe, expect, it } from 'vitest';

import { openEgress, type TestEgress } from '../../../test/support/open-egress.ts';
import { Servers, sendJson, startEndpoint } from '../../../test/support/http-servers.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { freePort } from '../../../test/support/free-port.ts';
import type { Arguments, ToolResult } from '../tool-result.ts';
import { createCustomTool, type CustomSpec } from './custom-tool.ts';

const servers = new Servers();
let egress: TestEgress;

beforeAll(() => void (egress = openEgress({ allowCidrs: ['127.0.0.0/8'] })));
afterAll(() => egress.close());
afterEach(() => servers.stop());

interface Given {
  readonly http: Omit<CustomSpec['http'], 'method' | 'timeout'> & Partial<CustomSpec['http']>;
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly secrets?: Readonly<Record<string, string>>;
}

function aTool({ http, parameters, data = {}, secrets = {} }: Given) {
  return createCustomTool({
    custom: {
      function: { name: 'find', description: 'For {{who}}.', ...(parameters && { parameters }) },
      http: { method: 'GET', timeout: '20s', ...http },
    },
    messages: {},
    data,
    egress,
    readSecret: async ({ name, key }) => secrets[`${name}/${key}`] ?? Promise.reject(new Error('no such secret')),
  });
}

const run = (given: Given, args: Arguments = {}): Promise<ToolResult> => aTool(given).run(args, new AbortController().signal);

const header = (name: string, value: string) => ({ name, value });
const secretHeader = (name: string) => ({ name, valueFrom: { secretKeyRef: { name: 's', key: 'k' } } });

describe('what the model sees', () => {
  it('is the schema as it stands, with at least an object at the top', () => {
    const odd = {
      properties: { a: { $ref: '#/$defs/x' } },
      $defs: { x: { type: 'string' } },
      'x-odd': [1],
      oneOf: [{ required: ['a'] }, { required: [] }],
    };
    expect(aTool({ http: { url: 'https://a.example' }, parameters: odd }).parameters).toEqual({ type: 'object', ...odd });
    expect(aTool({ http: { url: 'https://a.example' } }).parameters).toEqual({ type: 'object', properties: {} });
  });

  it('is described with the data of the call', () => {
    expect(aTool({ http: { url: 'https://a.example' }, data: { who: 'Ada' } }).description).toBe('For Ada.');
  });
});

describe('what is sent', () => {
  it.each(['GET', 'HEAD', 'OPTIONS', 'DELETE'] as const)('is in the query with %s', async (method) => {
    const endpoint = await startEndpoint(servers, (response) => sendJson(response, { ok: true }));
    const http = { url: `${endpoint.url}/items/{id}?v=1`, method };
    expect(await run({ http }, { id: 'a/b', q: 'x y&z', n: 3, list: [1, 2], v: 'mine', deep: { a: 1 }, nil: null })).toMatchObject({
      succeeded: true,
      ...(method !== 'HEAD' && { forModel: { ok: true } }),
    });
    const [received] = endpoint.requests;
    const url = new URL(received?.url ?? '', endpoint.url);
    expect([received?.method, url.pathname, received?.body]).toEqual([method, '/items/a%2Fb', '']);
    expect([...url.searchParams]).toEqual([
      ['v', '1'],
      ['q', 'x y&z'],
      ['n', '3'],
      ['list', '1'],
      ['list', '2'],
      ['deep', '{"a":1}'],
    ]);
  });

  it('is nothing where a required runtime parameter has no value', async () => {
    const endpoint = await startEndpoint(servers, (response) => sendJson(response, {}));
    const http = { url: endpoint.url, runtimeParams: { guest: { required: true }, city: {} } };
    for (const data of [{}, { guest: '' }, { guest: null }]) {
      expect(await run({ http, data })).toMatchObject({ succeeded: false, detail: 'missing_runtime_parameter' });
    }
    expect(endpoint.requests).toEqual([]);
    expect(await run({ http, data: { guest: 'Ada' } })).toMatchObject({ succeeded: true });
  });

  it('has runtime parameters of the type that they are to have, as far as a text can be read so', async () => {
    const endpoint = await startEndpoint(servers, (response) => sendJson(response, {}));
    const runtimeParams = {
      integer: { type: 'integer' },
      half: { type: 'integer' },
      flag: { type: 'boolean' },
      list: { type: 'array' },
      object: { type: 'object' },
      text: { type: 'string' },
      plain: {},
    } as const;
    const data = { integer: '42', half: '1.5', flag: 'true', list: '[1]', object: 'null', text: 7, plain: '7' };
    await run({ http: { url: endpoint.url, method: 'POST', runtimeParams }, data });
    expect(JSON.parse(endpoint.requests[0]?.body ?? '')).toEqual({
      integer: 42,
      half: '1.5',
      flag: true,
      list: [1],
      object: 'null',
      text: '7',
      plain: '7',
    });
  });

  it.each(['POST', 'PUT', 'PATCH'] as const)('is JSON with %s', async (method) => {
    const endpoint = await startEndpoint(servers, (response) => sendJson(response, {}));
    await run({ http: { url: `${endpoint.url}/items/{id}?v=1`, method } }, { id: 7, q: 'ü', deep: { a: [null] } });
    const [received] = endpoint.requests;
    expect([received?.method, received?.url, JSON.parse(received?.body ?? '')]).toEqual([
      method,
      '/items/7?v=1',
      { q: 'ü', deep: { a: [null] } },
    ]);
    expect(received?.headers['content-type']).toBe('application/json');
  });

  it('has fixed values over those of the call, and both over what the model says', async () => {
    const endpoint = await startEndpoint(servers, (response) => sendJson(response, {}));
    const http = {
      url: `${endpoint.url}/{{tenant}}/{account}`,
      method: 'POST' as const,
      headers: [header('X-Caller', 'is {{caller}}'), header('Content-Type', 'application/vnd.x+json')],
      fixedParams: { account: { value: 'fixed' }, both: { value: { by: '{{caller}}' } } },
      runtimeParams: { caller: {}, both: { value: 'runtime' }, age: { value: '{{customer.age}}' }, missing: { value: '{{nobody}}' } },
    };
    const data = { tenant: 't1', caller: 'Ada', customer: { age: 36 } };
    await run({ http, data }, { account: 'evil', both: 'evil', caller: 'evil', age: 1, missing: 'evil', own: 'fine' });
    const [received] = endpoint.requests;
    expect(received?.url).toBe('/t1/fixed');
    expect(JSON.parse(received?.body ?? '')).toEqual({ own: 'fine', both: { by: 'Ada' }, caller: 'Ada', age: 36 });
    expect(received?.headers).toMatchObject({ 'x-caller': 'is Ada', 'content-type': 'application/vnd.x+json' });
  });

  it('wins over the query of the address where the owner gives a fixed value, and never where the model does', async () => {
    const endpoint = await startEndpoint(servers, (response) => sendJson(response, {}));
    await run({ http: { url: `${endpoint.url}/?a=1&b=1`, fixedParams: { a: { value: 2 } } } }, { b: 3, c: 4 });
    expect([...new URL(endpoint.requests[0]?.url ?? '', endpoint.url).searchParams]).toEqual([
      ['b', '1'],
      ['c', '4'],
      ['a', '2'],
    ]);
  });

  it('lets no line break of the data into a header', async () => {
    const endpoint = await startEndpoint(servers, (response) => sendJson(response, {}));
    await run({ http: { url: endpoint.url, headers: [header('X-Name', '{{name}}')] }, data: { name: 'Ada\r\nX-Evil: 1 ☃' } });
    expect(endpoint.requests[0]?.headers['x-name']).toBe('Ada X-Evil: 1');
    expect(endpoint.requests[0]?.headers['x-evil']).toBeUndefined();
  });

  it('is nothing where the address lacks a value, and the model gets its name', async () => {
    const endpoint = await startEndpoint(servers, (response) => sendJson(response, {}));
    const result = await run({ http: { url: `${endpoint.url}/{id}`, method: 'DELETE' } }, { id: '' });
    expect(result).toMatchObject({ succeeded: false, forModel: { error: expect.stringContaining('"id"') } });
    expect(endpoint.requests).toEqual([]);
  });

  it('is nothing where a placeholder decides who gets the value of a Secret', async () => {
    const endpoint = await startEndpoint(servers, (response) => sendJson(response, {}));
    const http = { url: 'http://{host}/x', headers: [secretHeader('X-Key')] };
    const result = await run({ http, secrets: { 's/k': 'value' } }, { host: new URL(endpoint.url).host });
    expect(result).toMatchObject({ succeeded: false, detail: 'incomplete_address' });
    expect(endpoint.requests).toEqual([]);
  });

  it('has to fit the schema, where the model decides', () => {
    const tool = aTool({
      http: { url: 'https://a.example', fixedParams: { tenant: { value: 5 } } },
      parameters: {
        type: 'object',
        properties: { tenant: { type: 'string' }, q: { type: 'string' } },
        required: ['tenant', 'q'],
        additionalProperties: false,
      },
    });
    expect(tool.refuse({ q: 'x' })).toBeUndefined();
    expect(tool.refuse({ q: 1 })).toContain('q must be string');
    expect(tool.refuse({ q: 'x', more: 1 })).toContain('more');
  });
});

describe('what the model gets', () => {
  it.each([
    [500, 'Error: oh no\n    at find (/srv/app.js:1:2)', { error: 'The service has a problem at the moment.', status: 500 }],
    [
      404,
      '{"detail":"no such order"}',
      { error: 'The service has refused the request.', status: 404, answer: { detail: 'no such order' } },
    ],
    [409, 'taken, see http://10.0.0.1/', { error: expect.stringContaining('refused'), status: 409, answer: 'taken, see the service' }],
    [302, '', { error: expect.stringContaining('not set up correctly'), status: 302 }],
  ])('of the status %d', async (status, body, forModel) => {
    const endpoint = await startEndpoint(servers, (response) =>
      response.writeHead(status, { 'content-type': 'text/plain', location: 'http://127.0.0.1:1/secret' }).end(body),
    );
    const reason = expect.stringContaining(new URL(endpoint.url).host);
    expect(await run({ http: { url: endpoint.url } })).toEqual({ succeeded: false, forModel, detail: `http_${status}`, reason });
    expect(endpoint.requests).toHaveLength(1);
  });

  it('of an answer without content', async () => {
    const endpoint = await startEndpoint(servers, (response) => response.writeHead(204).end());
    expect(await run({ http: { url: endpoint.url, method: 'DELETE' } })).toMatchObject({ succeeded: true, forModel: { status: 204 } });
  });

  it('of text', async () => {
    const endpoint = await startEndpoint(servers, (response) => response.writeHead(200, { 'content-type': 'text/plain' }).end('Sunny.'));
    expect(await run({ http: { url: endpoint.url } })).toMatchObject({ succeeded: true, forModel: 'Sunny.' });
  });

  it.each([
    ['application/json', '{"broken": ', 'broken JSON'],
    ['image/png', 'PNG', 'image/png'],
  ])('of an answer of the type %s that it cannot use', async (type, body, reason) => {
    const endpoint = await startEndpoint(servers, (response) => response.writeHead(200, { 'content-type': type }).end(body));
    expect(await run({ http: { url: endpoint.url } })).toMatchObject({
      succeeded: false,
      forModel: { error: expect.stringContaining("can't be used") },
      reason: expect.stringContaining(reason),
    });
  });

  it('of ten megabytes is the beginning; the rest never comes over the line', async () => {
    let sent = 0;
    const endpoint = await startEndpoint(servers, (response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      const more = (): void => {
        while (sent < 10_000_000) {
          sent += 10_000;
          if (!response.write('x'.repeat(10_000))) return;
        }
        response.end();
      };
      response.on('drain', more);
      more();
    });
    const result = await run({ http: { url: endpoint.url } });
    expect(result).toMatchObject({ succeeded: true, forModel: { note: expect.stringContaining('cut off') } });
    expect((result.forModel as { answer: string }).answer).toBe('x'.repeat(65_536));
    await eventually(() => expect(endpoint.open()).toBe(0));
    expect(sent).toBeLessThan(10_000_000);
  });

  it('of a compressed answer is what it holds, although none was asked for', async () => {
    const endpoint = await startEndpoint(servers, (response) =>
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(gzipSync('{"a":1}')),
    );
    expect(await run({ http: { url: endpoint.url } })).toMatchObject({ succeeded: true, forModel: { a: 1 } });
  });

  it('of an address that may not be called', async () => {
    const guarded = openEgress();
    const tool = createCustomTool({
      custom: { function: { name: 'find' }, http: { url: 'http://169.254.169.254/latest/meta-data', method: 'GET', timeout: '20s' } },
      messages: {},
      data: {},
      egress: guarded,
      readSecret: async () => '',
    });
    expect(await tool.run({}, new AbortController().signal)).toMatchObject({
      succeeded: false,
      detail: 'forbidden_address',
      forModel: { error: expect.stringContaining('not set up correctly') },
      reason: expect.stringContaining('not on the public internet'),
    });
    guarded.close();
  });

  it('of a server that takes too long, drips, hangs up or is not there', async () => {
    const silent = await startEndpoint(servers, () => undefined);
    const dripping = await startEndpoint(servers, (response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      const drip = setInterval(() => response.write('x'), 100);
      response.on('close', () => clearInterval(drip));
    });
    const gone = await startEndpoint(servers, (response) => response.destroy());
    const results = await Promise.all([
      run({ http: { url: silent.url, timeout: '1s' } }),
      run({ http: { url: dripping.url, timeout: '1s' } }),
      run({ http: { url: gone.url, method: 'POST' } }),
      run({ http: { url: `http://127.0.0.1:${await freePort()}/` } }),
    ]);
    expect(results.map(({ detail }) => detail)).toEqual(['timeout', 'timeout', 'reset', 'connect']);
    for (const { succeeded, forModel, reason } of results) {
      expect([succeeded, Object.keys(forModel as object)]).toEqual([false, ['error']]);
      expect(JSON.stringify(forModel)).not.toContain('127.0.0.1');
      expect(reason).toContain('127.0.0.1');
    }
  });
});

describe('a secret', () => {
  const secrets = { 's/k': 'Bearer sk-live-"0815"' };

  it('goes to the server and never to the model, however the server echoes it', async () => {
    const endpoint = await startEndpoint(servers, (response, { headers }) => {
      const { authorization = '' } = headers;
      const escaped = Array.from(authorization, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(`{"plain": ${JSON.stringify(authorization)}, "escaped": "${escaped}", "token": ${JSON.stringify(authorization.slice(7))}}`);
    });
    const result = await run({ http: { url: endpoint.url, headers: [secretHeader('Authorization')] }, secrets });
    expect(endpoint.requests[0]?.headers.authorization).toBe('Bearer sk-live-"0815"');
    expect(result).toEqual({
      succeeded: true,
      forModel: { plain: '********', escaped: '********', token: '********' },
      detail: 'http_200',
    });
  });

  it('is not in an error or a text either', async () => {
    const endpoint = await startEndpoint(servers, (response, { headers }) =>
      response.writeHead(401, { 'content-type': 'text/plain' }).end(`Bad key: ${headers.authorization}`),
    );
    const result = await run({ http: { url: endpoint.url, headers: [secretHeader('Authorization')] }, secrets });
    expect(JSON.stringify(result)).not.toContain('0815');
    expect(result.forModel).toMatchObject({ answer: 'Bad key: ********' });
  });

  it('is no template', async () => {
    const endpoint = await startEndpoint(servers, (response) => sendJson(response, {}));
    await run({ http: { url: endpoint.url, headers: [secretHeader('X-Key')] }, secrets: { 's/k': 'a{{name}}b' }, data: { name: 'x' } });
    expect(endpoint.requests[0]?.headers['x-key']).toBe('a{{name}}b');
  });

  it('that cannot be read keeps the request from being made', async () => {
    const endpoint = await startEndpoint(servers, (response) => sendJson(response, {}));
    await expect(run({ http: { url: endpoint.url, headers: [secretHeader('X-Key')] } })).rejects.toThrow('no such secret');
    expect(endpoint.requests).toEqual([]);
  });
});
