import { expect, it } from 'vitest';

import { callsQuery } from './call-filter.ts';

const nothing = { agent: '', status: '', from: '', to: '' };

it('asks for what was chosen, and for the next page', () => {
  expect(callsQuery(nothing, { size: 50, token: undefined })).toBe('page_size=50');
  expect(callsQuery({ ...nothing, agent: ' a ', status: 'ended' }, { size: 50, token: 't' })).toBe(
    'page_size=50&ai_agent_ids=a&call_status=ended&page_token=t',
  );
});

it('takes times for those of the browser', () => {
  const query = new URLSearchParams(
    callsQuery({ ...nothing, from: '2026-11-21T09:00', to: '2026-11-21T10:00' }, { size: 1, token: undefined }),
  );
  expect(query.get('start_time_after')).toBe(new Date(2026, 10, 21, 9).toISOString());
  expect(query.get('start_time_before')).toBe(new Date(2026, 10, 21, 10).toISOString());
});
