import { expect, it } from 'vitest';

import { callsQuery, filterCount } from './call-filter.ts';

const nothing = { agent: '', status: '', from: '', to: '' };

it('asks for what was chosen, and for the next page', () => {
  expect(callsQuery(nothing, { size: 50, token: undefined })).toBe('page_size=50');
  expect(callsQuery({ ...nothing, agent: 'a', status: 'ended' }, { size: 50, token: 't' })).toBe(
    'page_size=50&ai_agent_ids=a&call_status=ended&page_token=t',
  );
});

it('takes days for those of the browser, the last one to its end', () => {
  const query = new URLSearchParams(callsQuery({ ...nothing, from: '2026-11-21', to: '2026-11-22' }, { size: 1, token: undefined }));
  expect(query.get('start_time_after')).toBe(new Date(2026, 10, 21).toISOString());
  expect(query.get('start_time_before')).toBe(new Date(new Date(2026, 10, 23).getTime() - 1).toISOString());
});

it('counts what is set', () => {
  expect([filterCount(nothing), filterCount({ ...nothing, agent: 'a', to: '2026-11-22' })]).toEqual([0, 2]);
});
