/** Serves the order system that the example resources look things up in: `http://orders.example` for the roles of a local stack. */

import type { IncomingMessage } from 'node:http';

import { DAY_MS } from '../../platform/time.ts';

/** Returns an entry for PARLEY_EGRESS_HOSTS. @param port of dev-speech, which serves the orders */
export const exampleOrdersHost = (port: number): string => `orders.example=127.0.0.1:${port}`;

/** Recognises requests by their paths, for in a cluster the host is a Service. Any credentials will do: they show that an agent sends its own. */
export const isForOrders = ({ method, url = '', headers }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>): boolean =>
  method === 'GET' && /^\/(orders|workshop)\//.test(url) && headers.authorization !== undefined;

const STATES = ['being repaired', 'waiting for a spare part', 'ready for pick-up'] as const;

/** @returns undefined for a path that the system doesn't have @param now milliseconds since the epoch */
export function answerOfOrders(path: string, now: number): unknown {
  if (path === '/workshop/today') return { next_free_day: weekday(workingDayAfter(now + 2 * DAY_MS)) };
  const number = /^\/orders\/(HB-\d{5})$/.exec(path)?.[1];
  if (number === undefined) return undefined;
  const state = STATES[Number(number.slice(3)) % STATES.length]!;
  return state === 'ready for pick-up' ? { state } : { state, ready_on: weekday(workingDayAfter(now + DAY_MS)) };
}

const workingDayAfter = (time: number): number => ([0, 6].includes(new Date(time).getUTCDay()) ? workingDayAfter(time + DAY_MS) : time);
const weekday = (time: number): string => new Date(time).toLocaleDateString('en', { weekday: 'long', timeZone: 'UTC' });
