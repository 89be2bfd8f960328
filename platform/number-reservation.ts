import type { Config } from './config.ts';

/** How long phone numbers stay reserved for their organisation, in milliseconds. */
export function numberReservationMs({ PARLEY_NUMBER_RESERVATION_DAYS: days }: Pick<Config, 'PARLEY_NUMBER_RESERVATION_DAYS'>): number {
  return days * 86_400_000;
}
