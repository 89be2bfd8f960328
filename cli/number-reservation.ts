import { loadConfig } from '../platform/config.ts';

/** How long numbers are reserved, in milliseconds, as the installation has it. */
export function reservationMs(): number {
  return loadConfig(process.env).PARLEY_NUMBER_RESERVATION_DAYS * 86_400_000;
}
