import { formatValue } from '../../../crds/template.ts';
import type { ToolSpec } from '../../../crds/index.ts';
import type { Clock } from '../../../platform/clock.ts';
import { DAY_MS } from '../../../platform/time.ts';
import { createArgumentCheck } from '../arguments.ts';
import { type Calendar, CalendarError } from '../calendar/calendar.ts';
import type { ReadSecret } from '../http/headers.ts';
import { failure, type BuiltinToolOptions, type ToolDefinition } from '../tool-result.ts';
import { dateIn, isDate, wallTime } from '../../../platform/local-time.ts';

export interface CalendarToolOptions extends BuiltinToolOptions<NonNullable<ToolSpec['checkCalendarAvailability']>> {
  readonly readSecret: ReadSecret;
  readonly calendar: Calendar;
  readonly clock: Clock;
}

/** Days that are searched where the model gives no end date. */
const DEFAULT_DAYS = 7;
const MAX_DAYS = 31;
/** Most slots that the model gets: more would not be read out. */
const MAX_SLOTS = 60;

const PARAMETERS = {
  type: 'object',
  properties: {
    start_date: { type: 'string', description: 'First day to look at, as YYYY-MM-DD. Today where absent.' },
    end_date: {
      type: 'string',
      description: `Last day to look at, as YYYY-MM-DD, at most ${MAX_DAYS} days later. A week later where absent.`,
    },
  },
  additionalProperties: false,
};

export function createCheckAvailability(options: CalendarToolOptions): ToolDefinition {
  const { name, spec, description, messages, readSecret, calendar, clock } = options;
  const { timeZone } = spec;
  return {
    name,
    description: `${description ?? 'Says which times are free in the calendar.'} Times are those of ${timeZone}; today is ${dateIn(clock.now(), timeZone)}.`,
    parameters: PARAMETERS,
    messages,
    refuse: createArgumentCheck(PARAMETERS),
    async run({ start_date: start, end_date: end }, signal) {
      const from = start === undefined ? dateIn(clock.now(), timeZone) : formatValue(start);
      if (!isDate(from)) return failure('start_date is no date: write it as YYYY-MM-DD.');
      const to = end === undefined ? addDays(from, DEFAULT_DAYS - 1) : formatValue(end);
      if (!isDate(to) || to < from) return failure('end_date is no date behind start_date: write it as YYYY-MM-DD.');
      const last = to > addDays(from, MAX_DAYS - 1) ? addDays(from, MAX_DAYS - 1) : to;
      const apiKey = await readSecret(spec.apiKeySecretRef);
      try {
        const slots = await calendar.slots({ eventType: spec.eventTypeID, apiKey, timeZone, signal }, { from, to: last });
        const free = slots.flatMap((slot) => {
          const moment = Date.parse(slot.start);
          return Number.isNaN(moment) ? [] : [wallTime(moment, timeZone)];
        });
        return {
          succeeded: true,
          forModel: {
            time_zone: timeZone,
            from,
            to: last,
            free: free.slice(0, MAX_SLOTS),
            ...(free.length === 0 && { note: 'Nothing is free in these days.' }),
            ...(free.length > MAX_SLOTS && { note: `There are ${free.length - MAX_SLOTS} more: ask for fewer days to see them.` }),
          },
          detail: `${free.length} slots`,
        };
      } catch (error) {
        if (!(error instanceof CalendarError)) throw error;
        return failure(`The free times are not known: ${error.message}.`, {}, error.kind, error.reason);
      }
    },
  };
}

function addDays(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}
