/**
 * Cal.com's API v2: free slots and bookings. Each endpoint has versions of its own, named by a header.
 * Sources: https://cal.com/docs/api-reference/v2/slots and …/v2/bookings.
 */
import type { Egress, EgressResponse } from '../../../platform/egress/egress.ts';
import { EgressError } from '../../../platform/egress/egress-error.ts';
import { isNestedDeeply, parseJson } from '../http/json.ts';
import { Redaction } from '../http/redaction.ts';
import { withQuery } from '../http/address.ts';
import { type Calendar, type CalendarAccess, CalendarError, type Slot } from './calendar.ts';

export interface CalComOptions {
  /** Address up to and with the version, as in `https://api.cal.com/v2`. */
  readonly baseUrl: string;
  readonly http: Pick<Egress, 'request'>;
  /** Longest time for one request, in milliseconds; default 15,000. */
  readonly timeoutMs?: number;
}

const SLOTS_VERSION = '2024-09-04';
const BOOKINGS_VERSION = '2024-08-13';

/** Longest answer, in bytes: a month of slots of five minutes each, and some. */
const MAX_BYTES = 2 * 1024 * 1024;

export function createCalCom({ baseUrl, http, timeoutMs = 15_000 }: CalComOptions): Calendar {
  const base = baseUrl.replace(/\/+$/, '');

  const ask = async (
    { apiKey, signal }: CalendarAccess,
    request: { readonly url: string; readonly version: string; readonly body?: unknown },
  ): Promise<Record<string, unknown>> => {
    const redaction = new Redaction([apiKey]);
    let response: EgressResponse;
    try {
      response = await http.request({
        url: request.url,
        method: request.body === undefined ? 'GET' : 'POST',
        headers: {
          accept: 'application/json',
          authorization: `Bearer ${apiKey}`,
          'cal-api-version': request.version,
          'user-agent': 'Parley-Tools/1.0',
          ...(request.body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(request.body !== undefined && { body: JSON.stringify(request.body) }),
        timeoutMs,
        maxBodyBytes: MAX_BYTES,
        signal,
      });
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof EgressError)) throw error;
      throw new CalendarError('unavailable', 'the calendar does not answer at the moment', { reason: redaction.text(error.message) });
    }
    const { status } = response;
    const answer = parseJson(response.body.toString('utf8'));
    if (status < 200 || status >= 300) throw refusal(status, answer, redaction);
    const data = answer === undefined || isNestedDeeply(answer) ? undefined : redaction.value(member(answer, 'data'));
    if (typeof data !== 'object' || data === null)
      throw new CalendarError('unavailable', 'the calendar answered something that is not its usual answer', { status });
    return data as Record<string, unknown>;
  };

  return {
    async slots(access, { from, to }) {
      const url = withQuery(`${base}/slots`, { ...named(access.eventType), start: from, end: to, timeZone: access.timeZone });
      const byDay = await ask(access, { url, version: SLOTS_VERSION });
      return Object.keys(byDay)
        .toSorted()
        .flatMap((day) => (Array.isArray(byDay[day]) ? (byDay[day] as unknown[]) : []).flatMap(slotOf));
    },

    async book(access, { start, name, email, phone, notes }) {
      const booked = await ask(access, {
        url: `${base}/bookings`,
        version: BOOKINGS_VERSION,
        body: {
          ...named(access.eventType),
          start,
          attendee: { name, email, timeZone: access.timeZone, ...(phone !== undefined && { phoneNumber: phone }) },
          ...(notes !== undefined && { bookingFieldsResponses: { notes } }),
        },
      });
      // A recurring event type answers with the list of its bookings.
      const first = Array.isArray(booked) ? (booked as unknown[])[0] : booked;
      const text = (key: string): string => {
        const value = member(first, key);
        return typeof value === 'string' ? value : '';
      };
      return { id: text('uid'), start: text('start') === '' ? start : text('start'), status: text('status') };
    },
  };
}

/** Reads an event type: `123`, or owner and slug: `ada/meeting`. */
function eventTypeOf(eventType: string): { readonly id: number } | { readonly owner: string; readonly slug: string } {
  if (/^\d+$/.test(eventType)) return { id: Number(eventType) };
  const [owner = '', slug = ''] = eventType.split('/', 2);
  if (owner === '' || slug === '') {
    const reason = `"${eventType}" is no event type of Cal.com: its number is needed, or user/event as in its address`;
    throw new CalendarError('refused', MISCONFIGURED, { reason });
  }
  return { owner, slug };
}

function named(eventType: string): Readonly<Record<string, string | number>> {
  const type = eventTypeOf(eventType);
  return 'id' in type ? { eventTypeId: type.id } : { username: type.owner, eventTypeSlug: type.slug };
}

function slotOf(slot: unknown): readonly Slot[] {
  const start = typeof slot === 'string' ? slot : member(slot, 'start');
  return typeof start === 'string' ? [{ start }] : [];
}

function refusal(status: number, answer: unknown, redaction: Redaction): CalendarError {
  const error = member(answer, 'error');
  const said = [member(error, 'message'), member(answer, 'message'), error].find((value) => typeof value === 'string');
  const words = typeof said === 'string' ? `: ${redaction.text(said).slice(0, 300).toWellFormed()}` : '';
  const reason = `Cal.com answers ${status}${words}`;
  if (status === 401 || status === 403 || status === 404) return new CalendarError('refused', MISCONFIGURED, { status, reason });
  if (status === 429 || status >= 500)
    return new CalendarError('unavailable', 'the calendar has a problem at the moment', { status, reason });
  return new CalendarError('rejected', `the calendar says no${words}`, { status, reason: `Cal.com answers ${status}` });
}

const MISCONFIGURED = 'the calendar is not set up correctly';

function member(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
}
