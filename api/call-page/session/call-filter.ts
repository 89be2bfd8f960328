/** Decides which calls are listed. */

/** The values of the form: empty where nothing was chosen. */
export interface ShownFilter {
  readonly agent: string;
  readonly status: string;
  /** The first day, `2026-11-21`, in the time zone of the browser. */
  readonly from: string;
  /** The last day. */
  readonly to: string;
}

/** Builds the query of `GET /v1/calls`. */
export function callsQuery(
  { agent, status, from, to }: ShownFilter,
  { size, token }: { readonly size: number; readonly token: string | undefined },
): string {
  const query = new URLSearchParams({ page_size: String(size) });
  const add = (name: string, value: string): void => {
    if (value !== '') query.set(name, value);
  };
  add('ai_agent_ids', agent);
  add('call_status', status);
  add('start_time_after', instantOf(from, 'T00:00:00.000'));
  add('start_time_before', instantOf(to, 'T23:59:59.999'));
  add('page_token', token ?? '');
  return query.toString();
}

/** Counts the fields that are set. */
export function filterCount(filter: ShownFilter): number {
  return Object.values(filter).filter((value) => value !== '').length;
}

function instantOf(day: string, time: string): string {
  return day === '' ? '' : new Date(`${day}${time}`).toISOString();
}
