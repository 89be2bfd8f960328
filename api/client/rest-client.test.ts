import { expect, it } from 'vitest';

import { createRestClient, RestError } from './rest-client.ts';

const asking = (answer: Response) => createRestClient({ url: 'http://elsewhere', apiKey: 'pk_1', fetch: () => Promise.resolve(answer) });

it.each([
  [501, ''],
  [404, '<html>not here</html>'],
  [502, 'Bad Gateway'],
  [200, '<html>welcome</html>'],
])('says of an answer %i %j that it is not one of Parley, and where to look', async (status, text) => {
  const client = asking(new Response(text, { status }));
  await expect(client.request('GET', '/v1/calls')).rejects.toMatchObject({
    message: expect.stringMatching(new RegExp(`GET /v1/calls: ${status} \\(no answer of Parley\\)`)),
    cure: expect.stringContaining('PARLEY_URL'),
  });
});

it('says what Parley says', async () => {
  const client = asking(Response.json({ error: 'not_found', message: 'call not found' }, { status: 404 }));
  const error = await client.request('GET', '/v1/calls/x').catch((failure: unknown) => failure);
  expect(error).toBeInstanceOf(RestError);
  expect(error).toMatchObject({ message: 'GET /v1/calls/x: 404 call not found', status: 404, code: 'not_found' });
});

it('takes an empty answer for none', async () => {
  expect(await asking(new Response(null, { status: 204 })).request('DELETE', '/v1/calls/x')).toBeUndefined();
});
