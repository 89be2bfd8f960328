/** Which calls are listed. */

/** As the form has it: empty where nothing was chosen. */
export interface ShownFilter {
  readonly agent: string;
  readonly status: string;
  /** `2026-11-21T09:00`, in the time zone of the browser. */
  readonly from: string;
  readonly to: string;
}

/** The query of `GET /v1/calls`. */
export function callsQuery(
  { agent, status, from, to }: ShownFilter,
  { size, token }: { readonly size: number; readonly token: string | undefined },
): string {
  const query = new URLSearchParams({ page_size: String(size) });
  const add = (name: string, value: string): void => {
    if (value !== '') query.set(name, value);
  };
  add('ai_agent_ids', agent.trim());
  add('call_status', status);
  add('start_time_after', instantOf(from));
  add('start_time_before', instantOf(to));
  add('page_token', token ?? '');
  return query.toString();
}

function instantOf(local: string): string {
  return local === '' ? '' : new Date(local).toISOString();
}
