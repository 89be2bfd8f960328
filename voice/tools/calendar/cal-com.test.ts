import { afterAll, afterEach, describe, expect, it, onTestFinished } from 'vitest';

import { openEgress, type TestEgress } from '../../../test/support/open-egress.ts';
import { Servers, sendJson, startEndpoint, type TestEndpoint } from '../../../test/support/http-servers.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { createBookCalendar } from '../builtin/book-calendar.ts';
import { createCheckAvailability } from '../builtin/check-calendar-availability.ts';
import type { Arguments } from '../tool-result.ts';
import { createCalCom } from './cal-com.ts';

const servers = new Servers();
const http = openEgress({ allowCidrs: ['127.0.0.0/8'] });
afterEach(() => servers.stop());
afterAll(() => http.close());

const key = 'cal_live_0815';

/** Starts a calendar with the answers that the service documents. */
function startCalendar(status = 200, body?: unknown): Promise<TestEndpoint> {
  return startEndpoint(servers, (response, { method, headers }) => {
    if (body !== undefined) return sendJson(response, body, status);
    if (headers.authorization !== `Bearer ${key}`) {
      const error = { code: 'UnauthorizedException', message: `Invalid key ${headers.authorization}`, details: {} };
      return sendJson(response, { status: 'error', timestamp: '', path: '', error }, 401);
    }
    if (method === 'GET') {
      const day = (date: string, ...times: string[]) => [date, times.map((time) => ({ start: `${date}T${time}.000+01:00` }))];
      return sendJson(response, {
        status: 'success',
        data: Object.fromEntries([day('2026-11-25', '09:00:00'), day('2026-11-24', '14:00:00', '15:30:00')]),
      });
    }
    return sendJson(
      response,
      { status: 'success', data: { id: 7, uid: 'booking-uid', status: 'accepted', start: '2026-11-24T13:00:00.000Z' } },
      201,
    );
  });
}

interface Given {
  readonly egress?: TestEgress;
  readonly apiKey?: string;
  readonly eventTypeID?: string;
}

function toolsOf(endpoint: Pick<TestEndpoint, 'url'>, { egress = http, apiKey = key, eventTypeID = '123' }: Given = {}) {
  const options = {
    name: 'x',
    description: undefined,
    messages: {},
    spec: { eventTypeID, apiKeySecretRef: { name: 's', key: 'k' }, timeZone: 'Europe/Berlin' },
    readSecret: async () => apiKey,
    calendar: createCalCom({ baseUrl: `${endpoint.url}/v2/`, http: egress, timeoutMs: 600_000 }),
    clock: new FakeClock({ now: Date.UTC(2026, 10, 21, 23, 30) }),
  };
  const { signal } = new AbortController();
  const [check, book] = [createCheckAvailability(options), createBookCalendar(options)];
  return {
    check: (args: Arguments) => check.run(args, signal),
    book: (args: Arguments) => book.run(args, signal),
    definitions: [check, book],
  };
}

const ada = { attendee_name: 'Ada Lovelace', attendee_email: 'ada@guest.example' };

describe('free times', () => {
  it('are asked for by day, and given in the time zone of the calendar', async () => {
    const endpoint = await startCalendar();
    expect(await toolsOf(endpoint).check({ start_date: '2026-11-24', end_date: '2026-11-25' })).toEqual({
      succeeded: true,
      forModel: {
        time_zone: 'Europe/Berlin',
        from: '2026-11-24',
        to: '2026-11-25',
        free: ['2026-11-24T14:00:00', '2026-11-24T15:30:00', '2026-11-25T09:00:00'],
      },
      detail: '3 slots',
    });
    const [{ method, url, headers } = {}] = endpoint.requests;
    expect(method).toBe('GET');
    expect(url).toBe('/v2/slots?eventTypeId=123&start=2026-11-24&end=2026-11-25&timeZone=Europe%2FBerlin');
    expect(headers).toMatchObject({ authorization: `Bearer ${key}`, 'cal-api-version': '2024-09-04' });
  });

  it('are those of a week from today where nothing is said, and of a month at most', async () => {
    const endpoint = await startCalendar();
    const { check, definitions } = toolsOf(endpoint, { eventTypeID: 'ada/meeting' });
    await check({});
    await check({ start_date: '2026-12-01', end_date: '2027-12-01' });
    expect(endpoint.requests.map(({ url }) => url)).toEqual([
      '/v2/slots?username=ada&eventTypeSlug=meeting&start=2026-11-22&end=2026-11-28&timeZone=Europe%2FBerlin',
      '/v2/slots?username=ada&eventTypeSlug=meeting&start=2026-12-01&end=2026-12-31&timeZone=Europe%2FBerlin',
    ]);
    // The time is past midnight in that zone.
    for (const { description } of definitions) expect(description).toContain('today is 2026-11-22');
  });

  it('are not asked for with what is no date', async () => {
    const endpoint = await startCalendar();
    const { check } = toolsOf(endpoint);
    for (const args of [{ start_date: 'tomorrow' }, { start_date: '2026-02-30' }, { start_date: '2026-11-24', end_date: '2026-11-20' }]) {
      expect(await check(args)).toMatchObject({ succeeded: false });
    }
    expect(endpoint.requests).toEqual([]);
  });
});

describe('a booking', () => {
  it('is made in UTC, for a time as people say it', async () => {
    const endpoint = await startCalendar();
    const args = { start: '2026-11-24T14:00', ...ada, attendee_phone: '+15550100', notes: 'A quiet room' };
    expect(await toolsOf(endpoint, { eventTypeID: '123' }).book(args)).toEqual({
      succeeded: true,
      forModel: { booked: true, booking_id: 'booking-uid', start: '2026-11-24T14:00:00', time_zone: 'Europe/Berlin', status: 'accepted' },
      detail: 'booked',
    });
    const [{ method, url, headers, body } = {}] = endpoint.requests;
    expect([method, url, headers?.['cal-api-version'], headers?.['content-type']]).toEqual([
      'POST',
      '/v2/bookings',
      '2024-08-13',
      'application/json',
    ]);
    expect(JSON.parse(body ?? '')).toEqual({
      eventTypeId: 123,
      start: '2026-11-24T13:00:00.000Z',
      attendee: { name: 'Ada Lovelace', email: 'ada@guest.example', timeZone: 'Europe/Berlin', phoneNumber: '+15550100' },
      bookingFieldsResponses: { notes: 'A quiet room' },
    });
  });

  it('is not made for the past or for what is no time', async () => {
    const endpoint = await startCalendar();
    const { book } = toolsOf(endpoint);
    expect(await book({ start: '2026-11-20T14:00', ...ada })).toMatchObject({
      succeeded: false,
      forModel: { error: expect.stringContaining('past') },
    });
    expect(await book({ start: 'at noon', ...ada })).toMatchObject({ succeeded: false });
    expect(endpoint.requests).toEqual([]);
  });

  it('that the calendar refuses fails with its message', async () => {
    const error = { code: 'BadRequestException', message: 'User either already has booking at this time or is not available' };
    const { book } = toolsOf(await startCalendar(400, { status: 'error', error }));
    expect(await book({ start: '2026-11-24T14:00', ...ada })).toMatchObject({
      succeeded: false,
      detail: 'rejected',
      forModel: { error: expect.stringMatching(/Nothing was booked.*already has booking/) },
    });
  });

  it('that the calendar refuses with a long message fails with text that is well-formed', async () => {
    const { book } = toolsOf(await startCalendar(400, { message: `${'x'.repeat(299)}😀` }));
    const { forModel } = await book({ start: '2026-11-24T14:00', ...ada });
    expect((forModel as { readonly error: string }).error).toMatch(/x\uFFFD/);
  });

  it('with an unknown outcome is not made twice', async () => {
    const time = new FakeClock();
    const egress = openEgress({ allowCidrs: ['127.0.0.0/8'], clock: time });
    onTestFinished(() => egress.close());
    const [broken, silent] = [await startCalendar(500, {}), await startEndpoint(servers, () => time.tick(600_000))];
    for (const endpoint of [broken, silent]) {
      expect(await toolsOf(endpoint, { egress }).book({ start: '2026-11-24T14:00', ...ada })).toMatchObject({
        succeeded: false,
        detail: 'unavailable',
        forModel: { error: expect.stringContaining('not known whether it was booked') },
      });
    }
  });
});

describe('a calendar that does not work', () => {
  it('does not reveal the key that the answer quotes', async () => {
    const { check } = toolsOf(await startCalendar(), { apiKey: 'cal_wrong_4711' });
    const result = await check({});
    expect(result).toMatchObject({ succeeded: false, detail: 'refused' });
    expect(JSON.stringify(result)).not.toContain('4711');
  });

  it.each([
    [404, { status: 'error', error: { message: 'no event type with this id' } }, 'refused'],
    [429, {}, 'unavailable'],
    [200, { status: 'success' }, 'unavailable'],
    [200, 'nonsense', 'unavailable'],
    [200, { data: { '2026-11-24': 'none', '2026-11-25': [{ start: 5 }, null] } }, '0 slots'],
  ])('is reported: %d %j', async (status, body, detail) => {
    expect((await toolsOf(await startCalendar(status, body)).check({})).detail).toBe(detail);
  });

  it('is not asked for an event type that is none', async () => {
    expect(await toolsOf(await startCalendar(), { eventTypeID: 'meeting' }).check({})).toMatchObject({
      succeeded: false,
      detail: 'refused',
    });
  });
});
