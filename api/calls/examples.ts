import { REVISION } from '../agents/examples.ts';
import type { CallAnswer } from './answers.ts';

const ID = 'call_019aa1f2-b3c4-7d5e-8f90-a1b2c3d4e5f6';

export const registeredCall: CallAnswer = {
  _id: ID,
  call_type: 'web_call',
  call_status: 'registered',
  ai_agent_id: 'receptionist-k3xq5w7z',
  ai_agent_name: 'Receptionist',
  agent_revision: REVISION,
  metadata: { ticket: 4711 },
  native_llm_dynamic_data: { customer_name: 'Ada' },
  created_at: '2026-11-21T04:00:00.000Z',
  access_token: 'eyJhbGciOiJIUzI1NiJ9.eyJ2aWRlbyI6e319.c2lnbmF0dXJl',
  media_url: 'wss://media.example.com',
  messages: [],
  turns: [],
  tool_calls: [],
  usage: { items: [], cost: null, unpriced: [] },
};

const { access_token: _token, media_url: _url, ...withoutAccess } = registeredCall;

export const outboundCall: CallAnswer = {
  ...withoutAccess,
  call_type: 'phone_call',
  metadata: { order: 'A-17' },
  direction: 'outbound',
  from_number: '+15550100',
  to_number: '+15550199',
};

export const endedCall: CallAnswer = {
  ...withoutAccess,
  call_status: 'ended',
  call_finish_reason: 'user_ended_call',
  call_start_time: '2026-11-21T04:00:07.250Z',
  call_end_time: '2026-11-21T04:01:37.750Z',
  call_duration_seconds: 90.5,
  recorded_call_audio_url: 'https://api.example.com/v1/call-recording/signed/q83vEjRW…',
  messages: [
    {
      role: 'agent',
      agent_name: 'receptionist-k3xq5w7z',
      content: 'Hello Ada, how can I help?',
      timestamp: '2026-11-21T04:00:07.400Z',
      interrupted: false,
    },
    { role: 'user', content: 'I would like to move my appointment.', timestamp: '2026-11-21T04:00:10.100Z', interrupted: false },
    {
      role: 'agent',
      agent_name: 'receptionist-k3xq5w7z',
      content: 'You are booked for Monday at ten.',
      timestamp: '2026-11-21T04:00:13.920Z',
      interrupted: false,
    },
  ],
  turns: [
    {
      timestamp: '2026-11-21T04:00:13.920Z',
      agent_name: 'receptionist-k3xq5w7z',
      eou: 500,
      stt: 120,
      llm_ttft: 310,
      tts_ttfb: 75,
      v2v: 1020,
    },
  ],
  tool_calls: [
    {
      name: 'move_appointment',
      agent_name: 'receptionist-k3xq5w7z',
      arguments: { day: 'Monday', hour: 10 },
      result: '{"moved":true}',
      is_error: false,
      timestamp: '2026-11-21T04:00:12.900Z',
      duration_ms: 240,
    },
  ],
  cost: { amount: '0.012884', currency: 'USD' },
  usage: {
    items: [
      {
        kind: 'llm',
        provider: 'openai',
        model: 'gpt-4.1-mini',
        purpose: 'conversation',
        requests: 2,
        estimated_requests: 1,
        input_tokens: 1840,
        cached_input_tokens: 1024,
        output_tokens: 61,
        reasoning_tokens: 0,
        cost: { amount: '0.000526', currency: 'USD' },
        price_version: '5f0c3a9be1d2',
      },
      {
        kind: 'stt',
        provider: 'deepgram',
        model: 'nova-3',
        purpose: 'conversation',
        requests: 1,
        audio_seconds: 89.4,
        cost: { amount: '0.011473', currency: 'USD' },
        price_version: '5f0c3a9be1d2',
      },
      {
        kind: 'tts',
        provider: 'openai',
        model: 'tts-1',
        purpose: 'conversation',
        requests: 2,
        characters: 59,
        audio_seconds: 4.2,
        cost: { amount: '0.000885', currency: 'USD' },
        price_version: '5f0c3a9be1d2',
      },
    ],
    cost: { amount: '0.012884', currency: 'USD' },
    unpriced: [],
  },
  post_call_analysis: {
    status: 'completed',
    items: [
      { name: 'reason', type: 'string', result: 'Wants to move an appointment.', error: null },
      { name: 'resolved', type: 'boolean', result: true, error: null },
    ],
    error: null,
    completed_at: '2026-11-21T04:01:41.000Z',
  },
};

export const resultsExample = { call_id: ID, agent_id: 'receptionist-k3xq5w7z', ...endedCall.post_call_analysis! };

export const signedUrlExample = {
  file_name: `${ID}.ogg`,
  signed_url: 'https://api.example.com/v1/call-recording/signed/q83vEjRW…',
  expiration_minutes: 10,
  expires_at: '2026-11-21T04:11:37.750Z',
};
