import { formatValue } from '../../../crds/template.ts';
import { createArgumentCheck } from '../arguments.ts';
import { CalendarError } from '../calendar/calendar.ts';
import { failure, type ToolDefinition } from '../tool-result.ts';
import type { CalendarToolOptions } from './check-calendar-availability.ts';
import { dateIn, momentOf, wallTime } from '../../../platform/local-time.ts';

const PARAMETERS = {
  type: 'object',
  properties: {
    start: { type: 'string', maxLength: 40, description: 'When it begins, as YYYY-MM-DDTHH:MM in the time zone of the calendar.' },
    attendee_name: { type: 'string', minLength: 1, maxLength: 200, description: 'Full name of the person it is for.' },
    attendee_email: {
      type: 'string',
      maxLength: 320,
      pattern: '^[^\\s@]+@[^\\s@]+$',
      description: 'E-mail address of that person: the confirmation goes there.',
    },
    attendee_phone: { type: 'string', pattern: '^\\+[1-9][0-9]{1,14}$', description: 'Phone number with the country code, as +15550100.' },
    notes: { type: 'string', maxLength: 2000, description: 'What else there is to know.' },
  },
  required: ['start', 'attendee_name', 'attendee_email'],
  additionalProperties: false,
};

export function createBookCalendar(options: CalendarToolOptions): ToolDefinition {
  const { name, spec, description, messages, readSecret, calendar, clock } = options;
  const { timeZone } = spec;
  return {
    name,
    description: `${description ?? 'Books a time in the calendar. Have the user confirm the time and the e-mail address before.'} Times are those of ${timeZone}; today is ${dateIn(clock.now(), timeZone)}.`,
    parameters: PARAMETERS,
    messages,
    refuse: createArgumentCheck(PARAMETERS),
    async run({ start, attendee_name: attendee, attendee_email: email, attendee_phone: phone, notes }, signal) {
      const moment = momentOf(formatValue(start), timeZone);
      if (moment === undefined) return failure('start is no time: write it as YYYY-MM-DDTHH:MM.');
      if (moment <= clock.now()) return failure('start lies in the past: nothing was booked.');
      const apiKey = await readSecret(spec.apiKeySecretRef);
      try {
        const booking = await calendar.book(
          { eventType: spec.eventTypeID, apiKey, timeZone, signal },
          {
            start: new Date(moment).toISOString(),
            name: formatValue(attendee),
            email: formatValue(email),
            phone: optional(phone),
            notes: optional(notes),
          },
        );
        const at = Date.parse(booking.start);
        return {
          succeeded: true,
          forModel: {
            booked: true,
            booking_id: booking.id,
            start: wallTime(Number.isNaN(at) ? moment : at, timeZone),
            time_zone: timeZone,
            status: booking.status,
          },
          detail: 'booked',
        };
      } catch (error) {
        if (!(error instanceof CalendarError)) throw error;
        const certain = error.kind !== 'unavailable';
        const outcome = certain
          ? 'Nothing was booked'
          : 'It is not known whether it was booked: do not book again before somebody has looked';
        return failure(`${outcome}: ${error.message}.`, {}, error.kind, error.reason);
      }
    },
  };
}

const optional = (value: unknown): string | undefined => (value === undefined ? undefined : formatValue(value));
