/** Bodies for the OpenAPI document; the tests send them, too. */

export const customToolBody = {
  function_tool: {
    name: 'find_booking',
    description: 'Finds a booking by its number.',
    parameters: {
      type: 'object',
      properties: { number: { type: 'string', description: 'As the guest says it.' } },
      required: ['number'],
      additionalProperties: false,
    },
  },
  additional_tool_info: {
    tool_type: 'custom',
    api: {
      endpoint: 'https://api.example.com/bookings/{number}',
      headers: { Accept: 'application/json' },
      method: 'GET',
      parameters: { fixed_params: { hotel: { description: 'Which of our hotels.', value: 7 } }, runtime_params: {} },
    },
  },
  tool_start_message: 'One moment, I am looking it up.',
  tool_failed_message: 'I can not reach our bookings.',
};

const kept = {
  created_at: '2026-11-21T04:00:00Z',
  updated_at: '2026-11-21T04:00:00Z',
  state: { ready: true, reason: 'Available', message: 'offered by 1 agent' },
};

export const customToolExample = { tool_id: 'find-booking-k3xq5w7z', ...customToolBody, ...kept };

export const customToolChange = { additional_tool_info: { api: { method: 'POST' } }, tool_start_message: null };

export const builtinToolBodies = {
  'an e-mail sender': { tool_name: 'send_email', from_email: 'desk@example.com', app_password: 'abcd efgh ijkl mnop' },
  'a transfer to a person': { tool_name: 'transfer_call', transfer_to: '+15550100', transfer_type: 'warm_transfer' },
  'bookings in a calendar': { tool_name: 'book_calendar', event_type_id: 42, cal_api_key: 'cal_live_0123', timezone: 'Europe/Berlin' },
  'free slots of a calendar': { tool_name: 'check_calendar_availability', event_type_id: 'team-visit', cal_api_key: 'cal_live_0123' },
};

export const builtinToolExample = {
  tool_id: 'transfer-call-k3xq5w7z',
  tool_name: 'transfer_call',
  transfer_to: '+15550100',
  transfer_type: 'warm_transfer',
  display_phone_number: false,
  ...kept,
};

export const builtinToolChange = { tool_name: 'transfer_call', transfer_to: 'sip:desk@example.com', tool_start_message: 'I connect you.' };

export const mcpToolBody = {
  server_url: 'https://mcp.example.com/mcp',
  headers: { Authorization: 'Bearer shop_live_0123' },
  include: ['look_up_order', 'list_offers'],
  timeout_ms: 10_000,
  update_policy: 'pinned',
  tool_messages: { look_up_order: { tool_start_message: 'I look your order up.' } },
  tool_start_message: 'One moment, please.',
};

export const mcpToolExample = {
  tool_id: 'mcp-example-com-k3xq5w7z',
  ...mcpToolBody,
  headers: { Authorization: '********' },
  functions: ['list_offers', 'look_up_order'],
  used_digest: `sha256:${'1f'.repeat(32)}`,
  latest_digest: `sha256:${'1f'.repeat(32)}`,
  ...kept,
};

export const mcpToolChange = { digest: `sha256:${'2e'.repeat(32)}`, exclude: ['list_offers'] };
