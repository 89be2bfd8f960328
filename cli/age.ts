/** Formats a span as kubectl writes it: `42s`, `5m3s`, `3h12m`, `2d4h`, `41d`, `2y30d`. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  if (seconds < 120) return `${seconds}s`;
  if (minutes < 10) return both(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  if (hours < 8) return both(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  if (days < 8) return both(days, 'd', hours % 24, 'h');
  if (days < 730) return `${days}d`;
  return both(Math.floor(days / 365), 'y', days % 365, 'd');
}

/** Returns how long ago an RFC 3339 time was; `<unknown>` without a time, as kubectl prints it. */
export function ageOf(time: string | null | undefined, now: number): string {
  const at = Date.parse(time ?? '');
  return Number.isNaN(at) ? '<unknown>' : span(now - at);
}

function both(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`;
}
