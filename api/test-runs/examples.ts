import type { TestRunAnswer, TestRunSummaryAnswer } from './answers.ts';

const revision = '3f9c2a7b'.repeat(8);

export const finishedSummary: TestRunSummaryAnswer = {
  _id: 'run_019aa1f2-b3c4-7d5e-8f90-a1b2c3d4e5f6',
  ai_agent_id: 'receptionist-k3xq5w7z',
  revision,
  trigger: 'request',
  state: 'finished',
  verdict: 'failed',
  requested_by: 'user_ada',
  created_at: '2026-11-21T04:00:00.000Z',
  started_at: '2026-11-21T04:00:00.410Z',
  finished_at: '2026-11-21T04:00:03.900Z',
};

const openingHours = { test: 'opening-hours', required: true, mode: 'text' } as const;

export const finishedRun: TestRunAnswer = {
  ...finishedSummary,
  results: [
    {
      ...openingHours,
      verdict: 'failed',
      passed: 0,
      failed: 1,
      flaky: false,
      message: 'spec.conversation[0].expect[0].answer.contains: expected "nine"; the agent said "We are closed."',
      finished_at: '2026-11-21T04:00:03.880Z',
      usage: {
        items: [
          {
            kind: 'llm',
            provider: 'openai',
            model: 'gpt-4.1-mini',
            purpose: 'conversation',
            requests: 1,
            estimated_requests: 0,
            input_tokens: 412,
            cached_input_tokens: 0,
            output_tokens: 5,
            reasoning_tokens: 0,
            cost: { amount: '0.000432', currency: 'USD' },
            price_version: '9f86d081884c',
          },
        ],
        cost: { amount: '0.000432', currency: 'USD' },
        unpriced: [],
      },
      attempts: [
        {
          verdict: 'failed',
          checks: [
            {
              path: 'spec.conversation[0].expect[0].answer.contains',
              kind: 'answer',
              verdict: 'failed',
              expected: 'nine',
              actual: 'We are closed.',
            },
          ],
          transcript: [
            { role: 'user', text: 'What are your opening hours?', at_ms: 12 },
            { role: 'agent', text: 'We are closed.', at_ms: 840 },
          ],
          duration_ms: 1_210,
        },
      ],
    },
  ],
};

const { verdict: _verdict, started_at: _started, finished_at: _finished, ...requested } = finishedSummary;

export const queuedRun: TestRunAnswer = { ...requested, state: 'queued', results: [{ ...openingHours, attempts: [] }] };
